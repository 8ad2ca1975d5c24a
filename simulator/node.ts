import type { Clock } from '../src/core/clock.ts'
import { type Chain, FINAL_AFTER } from './chain.ts'
import { type Condition, createTimeline, type Timeline } from './scenario/timeline.ts'
import type { Draft } from './journal/entry.ts'
import { createJournal, serviceEntry, usualJournal } from './journal/journal.ts'
import type { Scenario } from './scenario/scenario.ts'
import { heightBefore, isSyncing, type Statesync } from './consensus/statesync.ts'
import { createConsensusEntries, createLedgerTail, usualConsensus } from './consensus/consensus-log.ts'
import { createExecutionEntries, usualExecution } from './execution.ts'
import { drift } from './format-drift.ts'
import { injectedEntries, noInjectedLines } from './injected-lines.ts'
import { createCleanupEntries, usualCleanup } from './services/units.ts'
import { lifecycleEntries, usualServices } from './services/service.ts'
import { LIVELY, type Pace } from './pace.ts'
import type { HeightAt, Heights, NodeSubject, SimulatedNode } from './subject.ts'
import { usualLogVolume } from './consensus/log-lines.ts'
import { usualHost } from './host/host.ts'
import { usualKeys } from './keystore/key-files.ts'
import { usualNative } from './native.ts'
import { usualRpc } from './rpc/rpc.ts'
import { usualStaking } from './rpc/staking.ts'
import { usualStorage } from './storage.ts'
import type { ToolState } from './tools/tools.ts'
import { usualVersions } from './versions.ts'
import { widen } from '../src/core/widen.ts'

export interface NodeOptions {
  readonly clock: Clock
  readonly chain: Chain
  /** The name prefix of units and tools. */
  readonly prefix: string
  readonly scenario: Scenario
  /** Index of the node in the chain's validators. */
  readonly index?: number
  readonly pace?: Pace
  /** How far into its scenario the node starts, in milliseconds. */
  readonly elapsedMs?: number
}

export const createNode = ({
  clock,
  chain,
  prefix,
  scenario,
  index = 0,
  pace = LIVELY,
  elapsedMs = 0,
}: NodeOptions): SimulatedNode => {
  const own = chain.validators[index]
  if (!own) throw new RangeError(`there is no validator ${index} in a network of ${chain.validators.length}`)
  const beginMs = clock.now() - elapsedMs
  const name = `${prefix}/${chain.seed}/${index}/${beginMs}`
  const timeline = createTimeline(healthyCondition(beginMs), scenario.steps, beginMs)
  const heights = createHeights(chain, timeline)
  const subject = { name, prefix, own, chain, timeline, heights }
  return {
    ...subject,
    journal: createJournal(subject, pace, {
      now: clock.now,
      produce: createJournalContent(subject),
      produceOld: () => produceOldEntries(subject),
    }),
    now: clock.now,
    condition: () => timeline.conditionAt(clock.now()),
  }
}

const createHeights = (chain: Chain, timeline: Timeline): Heights => {
  const consensus = track(
    timeline,
    (ms, condition) => {
      const { behind, consensusRuns, services, statesync } = condition
      if (!consensusRuns || services.bft.state !== 'active') return undefined
      return statesync && isSyncing(condition, ms) ? heightBefore(chain, statesync) : chain.headAt(ms).seqNum - behind
    },
    () => chain.headAt(timeline.beginMs).seqNum,
  )
  const execution = track(
    timeline,
    (ms, { services }) => (services.execution.state === 'active' ? consensus(ms) : undefined),
    () => consensus(timeline.beginMs),
  )
  const rpc = track(
    timeline,
    (ms, { rpcFrozen }) => (rpcFrozen ? undefined : execution(ms)),
    () => execution(timeline.beginMs),
  )
  const finalized: HeightAt = (ms) => rpc(timeline.conditionAt(ms).finalityStoppedMs ?? ms) - FINAL_AFTER
  return { consensus, execution, rpc, finalized }
}

/**
 * A height that is what `follow` returns, and keeps its value while `follow` returns undefined. `initial` is the value
 * before `follow` first returns one.
 */
const track = (
  { segments }: Timeline,
  follow: (ms: number, condition: Condition) => bigint | undefined,
  initial: () => bigint,
): HeightAt => {
  const starts = new Map<number, bigint>()
  const startOf = (index: number): bigint | undefined => {
    const segment = segments[index]
    if (index === 0 || !segment) return undefined
    const start = starts.get(index) ?? within(index - 1, segment.fromMs)
    starts.set(index, start)
    return start
  }
  const within = (index: number, ms: number): bigint => {
    const start = startOf(index)
    const next = follow(ms, (segments[index] ?? segments[0]).condition)
    if (next === undefined) return start ?? initial()
    return start === undefined || next > start ? next : start
  }
  return (ms) =>
    within(
      segments.findLastIndex(({ fromMs }) => fromMs <= ms),
      ms,
    )
}

/** The journal entries of a node and its systemd, for consecutive time ranges. */
const createJournalContent = (subject: NodeSubject) => {
  const { timeline } = subject
  const ledgerTail = createLedgerTail(subject)
  const consensus = createConsensusEntries(subject)
  const execution = createExecutionEntries(subject)
  const cleanup = createCleanupEntries(subject)
  return (fromMs: number, toMs: number): readonly Draft[] => {
    const drafts: Draft[] = [...consensus(fromMs, toMs), ...execution(fromMs, toMs)]
    for (const { atMs, text } of ledgerTail(fromMs, toMs)) {
      drafts.push(ledgerEntry(subject, atMs, text))
    }
    for (const change of timeline.changes) {
      if (change.atMs > fromMs && change.atMs <= toMs)
        drafts.push(...injectedEntries(subject, change), ...lifecycleEntries(subject, change))
    }
    drafts.push(...cleanup(fromMs, toMs))
    return drafts.toSorted((a, b) => a.atMs - b.atMs)
  }
}

const ledgerEntry = (subject: NodeSubject, atMs: number, plain: string): Draft => {
  const { services, formatsDrift } = subject.timeline.conditionAt(atMs)
  const text = formatsDrift ? drift.jsonLog(plain) : plain
  const program = `${subject.prefix}-ledger-tail`
  return serviceEntry(subject, services['ledger-tail'], { atMs, text, program })
}

const HOUR_MS = 3_600_000
/** The processes have run for 53 hours when the simulation starts. */
const BEFORE_MS = 48 * HOUR_MS
/** From a full hour on: long enough for a block and for the clean-up, which takes two seconds. */
const LENGTH_MS = 2500

/** The first entry of each unit after a full hour two days before the start, from a healthy node. */
const produceOldEntries = (subject: NodeSubject): readonly Draft[] => {
  const { beginMs } = subject.timeline
  const timeline = createTimeline(healthyCondition(beginMs), [], beginMs)
  const heights = createHeights(subject.chain, timeline)
  const produce = createJournalContent({ ...subject, timeline, heights })
  const fromMs = Math.floor((beginMs - BEFORE_MS) / HOUR_MS) * HOUR_MS - 1
  const first = new Map<string | undefined, Draft>()
  for (const draft of produce(fromMs, fromMs + LENGTH_MS)) {
    const unit = draft.fields['_SYSTEMD_UNIT']
    if (!first.has(unit)) first.set(unit, draft)
  }
  return [...first.values()]
}

/** The state of a healthy node. */
export const healthyCondition = (beginMs: number) => ({
  ...usualConsensus,
  ...usualRpc,
  /** Whether users send more than the RPC can execute. */
  rpcOverloaded: false,
  /** The last statesync, also when it is over. */
  statesync: widen<Statesync | undefined>(undefined),
  storage: usualStorage,
  staking: usualStaking,
  /** When the boundary block of an epoch is proposed; undefined where the scenario does not depend on it. */
  epochEndsMs: widen<number | undefined>(undefined),
  native: usualNative,
  versions: usualVersions,
  log: usualLogVolume,
  injectedLines: noInjectedLines,
  journal: usualJournal,
  cleanup: usualCleanup,
  execution: usualExecution,
  keys: usualKeys(beginMs),
  host: usualHost(beginMs),
  /** What the node's own tools do when they are called. */
  tools: widen<Readonly<Record<'mpt' | 'status', ToolState>>>({ mpt: 'answers', status: 'answers' }),
  /** Whether every output uses unknown keywords. */
  formatsDrift: false,
  services: usualServices(beginMs),
})

declare module './scenario/timeline.ts' {
  interface Condition extends Readonly<ReturnType<typeof healthyCondition>> {}
}
