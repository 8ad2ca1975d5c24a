import { createService, type Role, type Service } from './service.ts'
import type { Statesync } from './statesync.ts'
import { type Storage, usualStorage } from './storage.ts'

/** How it stands with a node between two lines of its scenario. */
export interface Condition {
  /** How many blocks the node follows behind the network. */
  readonly behind: bigint
  /** Whether consensus follows the network, provided that its service is active. */
  readonly consensusRuns: boolean
  /** Whether the RPC answers with the height it had, whatever the node does. */
  readonly rpcFrozen: boolean
  /** The last statesync, also when it is over. */
  readonly statesync: Statesync | undefined
  readonly storage: Storage
  readonly log: ConsensusLog
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
  rpcFrozen: false,
  statesync: undefined,
  storage: usualStorage,
  log: { level: 'DEBUG', noise: 3, flood: undefined },
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
