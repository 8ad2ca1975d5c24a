import { consensus } from './consensus.ts'
import { database } from './database.ts'
import { host } from './host.ts'
import { network } from './network.ts'
import { start } from './start.ts'
import { type LogPattern, type LogPatternRow, toPattern } from './pattern.ts'
import { cleanup, crashes, execution, rpc } from './programs.ts'

const SUBJECTS: readonly (readonly [title: string, rows: readonly LogPatternRow[]])[] = [
  ['Crashes', crashes],
  ['Start, configuration and keys', start],
  ['Database', database],
  ['Execution', execution],
  ['Consensus', consensus],
  ['Network and peers', network],
  ['Host', host],
  ['RPC', rpc],
  ['Cleanup', cleanup],
]

/** All patterns by subject, as the documentation lists them. */
export const LOG_SUBJECTS = SUBJECTS.map(([title, rows]) => ({ title, patterns: rows.map(toPattern) }))

/** All patterns. */
export const LOG_PATTERNS: readonly LogPattern[] = LOG_SUBJECTS.flatMap(({ patterns }) => patterns)
