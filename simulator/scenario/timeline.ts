import { type ConsensusLogVolume, usualLogVolume } from '../consensus/log-lines.ts'
import type { Statesync } from '../consensus/statesync.ts'
import { type Execution, usualExecution } from '../execution.ts'
import { type Host, usualHost } from '../host/host.ts'
import { type InjectedLines, noInjectedLines } from '../injected-lines.ts'
import { type JournalState, usualJournal } from '../journal/journal.ts'
import { type Keys, usualKeys } from '../keystore/key-files.ts'
import { type Native, usualNative } from '../native.ts'
import { type Cleanup, usualCleanup } from '../services/units.ts'
import { createService, type Role, type Service } from '../services/service.ts'
import { type Staking, usualStaking } from '../rpc/staking.ts'
import { type Storage, usualStorage } from '../storage.ts'
import type { StatusShape } from '../status-report.ts'
import type { ToolState } from '../tools/tools.ts'
import { usualVersions, type Versions } from '../versions.ts'
import type { Scenario } from './scenario.ts'

/** The state of a node between two lines of its scenario. */
export interface Condition {
  /** How many blocks the node follows behind the network. */
  readonly behind: bigint
  /** Whether consensus follows the network, provided that its service is active. */
  readonly consensusRuns: boolean
  /** `badly`: the node is the leader of every round that times out. `never`: and of no round with a block. */
  readonly leads: 'normally' | 'badly' | 'never'
  /** Whether the blocks of this node have no transactions of users. */
  readonly proposesEmpty: boolean
  /** Since when the network has no new block; undefined while it has. */
  readonly networkStoppedMs: number | undefined
  /** Since when no block is finalized, though new ones are proposed; undefined while blocks are. */
  readonly finalityStoppedMs: number | undefined
  /** Since when execution computes another state than the network; undefined while it computes the same. */
  readonly divergedMs: number | undefined
  /** Whether the references, the other views of the chain, respond. */
  readonly referenceAnswers: boolean
  /** Whether the RPC responds, provided that its service is active. */
  readonly rpcAnswers: boolean
  /** Whether the RPC keeps reporting the height it had, whatever the node does. */
  readonly rpcFrozen: boolean
  /** The last statesync, also when it is over. */
  readonly statesync: Statesync | undefined
  readonly storage: Storage
  readonly staking: Staking
  /** When the boundary block of an epoch is proposed; undefined where the scenario does not depend on it. */
  readonly epochEndsMs: number | undefined
  readonly native: Native
  readonly versions: Versions
  readonly log: ConsensusLogVolume
  readonly injectedLines: InjectedLines
  readonly journal: JournalState
  readonly cleanup: Cleanup
  readonly execution: Execution
  readonly keys: Keys
  readonly host: Host
  /** What the node's own tools do when they are called. */
  readonly tools: Readonly<Record<'mpt' | 'status', ToolState>>
  readonly statusShape: StatusShape
  /** Whether every output uses unknown keywords. */
  readonly formatsDrift: boolean
  readonly services: Readonly<Record<Role, Service>>
}

/** The state of a healthy node. */
const createCondition = (beginMs: number): Condition => ({
  behind: 0n,
  consensusRuns: true,
  leads: 'normally',
  proposesEmpty: false,
  networkStoppedMs: undefined,
  finalityStoppedMs: undefined,
  divergedMs: undefined,
  referenceAnswers: true,
  rpcAnswers: true,
  rpcFrozen: false,
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
  statusShape: 'older',
  formatsDrift: false,
  services: {
    bft: createService('bft', beginMs),
    execution: createService('execution', beginMs),
    rpc: createService('rpc', beginMs),
    'ledger-tail': createService('ledger-tail', beginMs),
    otelcol: createService('otelcol', beginMs),
  },
})

/** A period in which the condition of the node does not change. */
interface Segment {
  readonly fromMs: number
  readonly condition: Condition
}

/** A change by a directive. */
export interface Change {
  readonly atMs: number
  readonly before: Condition
  readonly after: Condition
}

/** The condition of a node at any time of its scenario. */
export interface Timeline {
  readonly beginMs: number
  readonly segments: readonly [Segment, ...Segment[]]
  readonly changes: readonly Change[]
  conditionAt(ms: number): Condition
}

/**
 * Directives at second 0 apply to the past as well: a node that lags from the start has always lagged, and does not
 * fall behind first.
 */
export const createTimeline = ({ steps }: Pick<Scenario, 'steps'>, beginMs: number): Timeline => {
  const changes: Change[] = []
  let condition = createCondition(beginMs)
  let first: Segment = { fromMs: -Infinity, condition }
  const later: Segment[] = []
  for (const { afterMs, effect } of steps) {
    const atMs = beginMs + afterMs
    const before = condition
    condition = effect(before, atMs)
    changes.push({ atMs, before, after: condition })
    if (afterMs === 0) first = { ...first, condition }
    else later.push({ fromMs: atMs, condition })
  }
  return {
    beginMs,
    segments: [first, ...later],
    changes,
    conditionAt: (ms) => (later.findLast(({ fromMs }) => fromMs <= ms) ?? first).condition,
  }
}
