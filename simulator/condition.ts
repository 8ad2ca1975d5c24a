import { usualConsensus } from './consensus/consensus-log.ts'
import { usualLogVolume } from './consensus/log-lines.ts'
import { usualExecution } from './execution.ts'
import { usualHost } from './host/host.ts'
import { noInjectedLines } from './injected-lines.ts'
import { usualJournal } from './journal/journal.ts'
import { usualKeys } from './keystore/key-files.ts'
import { usualNative } from './native.ts'
import { usualRpc } from './rpc/rpc.ts'
import { usualStaking } from './rpc/staking.ts'
import type { Condition } from './scenario/timeline.ts'
import { usualServices } from './services/service.ts'
import { usualCleanup } from './services/units.ts'
import { usualStorage } from './storage.ts'
import { usualVersions } from './versions.ts'

/** The state of a healthy node. */
export const healthyCondition = (beginMs: number): Condition => ({
  ...usualConsensus,
  ...usualRpc,
  rpcOverloaded: false,
  statesync: undefined,
  storage: usualStorage,
  staking: usualStaking,
  epochEndsMs: undefined,
  native: usualNative,
  versions: usualVersions,
  log: usualLogVolume,
  injectedLines: noInjectedLines,
  journal: usualJournal,
  cleanup: usualCleanup,
  execution: usualExecution,
  keys: usualKeys(beginMs),
  host: usualHost(beginMs),
  tools: { mpt: 'answers', status: 'answers' },
  formatsDrift: false,
  services: usualServices(beginMs),
})
