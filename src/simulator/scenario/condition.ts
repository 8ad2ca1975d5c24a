import { type Native, usualNative } from './native.ts'
import { type Keys, usualKeys } from './keys.ts'
import { type Host, usualHost } from './host.ts'
import { type Execution, usualExecution } from './execution.ts'
import {
  type Cleanup,
  type JournalState,
  readable,
  silent,
  type Speech,
  usualCleanup,
} from './logs.ts'
import { createService, type Role, type Service } from './service.ts'
import type { Statesync } from './statesync.ts'
import { type Storage, usualStorage } from './storage.ts'
import { usualVersions, type Versions } from './versions.ts'

/** How it stands with a node between two lines of its scenario. */
export interface Condition {
  /** How many blocks the node follows behind the network. */
  readonly behind: bigint
  /** Whether consensus follows the network, provided that its service is active. */
  readonly consensusRuns: boolean
  /** `badly`: every round that times out was the node's own to lead. `never`: no block is its own either. */
  readonly leads: 'well' | 'badly' | 'never'
  /** Whether the other view of the chain answers. */
  readonly referenceAnswers: boolean
  /** Whether the RPC answers at all, provided that its service is active. */
  readonly rpcAnswers: boolean
  /** Whether the RPC answers with the height it had, whatever the node does. */
  readonly rpcFrozen: boolean
  /** The last statesync, also when it is over. */
  readonly statesync: Statesync | undefined
  readonly storage: Storage
  readonly native: Native
  readonly versions: Versions
  readonly log: ConsensusLog
  readonly speech: Speech
  readonly journal: JournalState
  readonly cleanup: Cleanup
  readonly execution: Execution
  readonly keys: Keys
  readonly host: Host
  /** What the node's own tools do when they are called. */
  readonly tools: Readonly<Record<'mpt' | 'status', ToolState>>
  /** Which of the two known shapes the status report has. */
  readonly statusSpeaks: (typeof STATUS_SHAPES)[number]
  /** Whether all that is printed has words that nobody has seen. */
  readonly formatsDrift: boolean
  readonly services: Readonly<Record<Role, Service>>
}

export const STATUS_SHAPES = ['older', 'newer'] as const
export const LOG_LEVELS = ['DEBUG', 'INFO'] as const

export type ToolState = 'answers' | 'hangs' | 'aborts'

/** What the consensus log tells beside what happens. */
export interface ConsensusLog {
  /** The least level that is written. */
  readonly level: (typeof LOG_LEVELS)[number]
  /** Lines of DEBUG that mean nothing, with every block. */
  readonly noise: number
  readonly flood: Flood | undefined
}

export interface Flood {
  readonly fromMs: number
  readonly linesPerSecond: number
}

/** A node with which all is well. */
export const createCondition = (beginMs: number): Condition => ({
  behind: 0n,
  consensusRuns: true,
  leads: 'well',
  referenceAnswers: true,
  rpcAnswers: true,
  rpcFrozen: false,
  statesync: undefined,
  storage: usualStorage,
  native: usualNative,
  versions: usualVersions,
  log: { level: 'DEBUG', noise: 3, flood: undefined },
  speech: silent,
  journal: readable,
  cleanup: usualCleanup,
  execution: usualExecution,
  keys: usualKeys(beginMs),
  host: usualHost(beginMs),
  tools: { mpt: 'answers', status: 'answers' },
  statusSpeaks: 'older',
  formatsDrift: false,
  services: {
    bft: createService('bft', beginMs),
    execution: createService('execution', beginMs),
    rpc: createService('rpc', beginMs),
    'ledger-tail': createService('ledger-tail', beginMs),
    otelcol: createService('otelcol', beginMs),
  },
})
