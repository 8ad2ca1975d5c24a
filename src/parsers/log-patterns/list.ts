import { cleanup } from './cleanup.ts'
import { consensus } from './consensus.ts'
import { crashes } from './crash.ts'
import { database } from './database.ts'
import { execution } from './execution.ts'
import { host } from './host.ts'
import { network } from './network.ts'
import { rpc } from './rpc.ts'
import { start } from './start.ts'
import type { LogPattern } from './pattern.ts'

/** All patterns by subject, as the documentation lists them. */
export const LOG_SUBJECTS: readonly { readonly title: string; readonly patterns: readonly LogPattern[] }[] = [
  { title: 'Crashes', patterns: crashes },
  { title: 'Start, configuration and keys', patterns: start },
  { title: 'Database', patterns: database },
  { title: 'Execution', patterns: execution },
  { title: 'Consensus', patterns: consensus },
  { title: 'Network and peers', patterns: network },
  { title: 'Host', patterns: host },
  { title: 'RPC', patterns: rpc },
  { title: 'Cleanup', patterns: cleanup },
]

/** All patterns. */
export const LOG_PATTERNS: readonly LogPattern[] = LOG_SUBJECTS.flatMap(({ patterns }) => patterns)
