import { NODE_FACTS, TIMESTAMP_TOLERANCE_MS } from '../../domain/node-facts.ts'
import { count, duration, figure, share } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import type { RoundTimes } from '../consensus/round-log.ts'
import type { RoundReadings } from './round-readings.ts'

/** Why a round that this node led has no block of it. */
export const MISS_CLASSES = [
  'own outage',
  'execution',
  'clock',
  'peers',
  'UDP',
  'network',
  'disk',
  'late parent',
  'votes',
  'unknown',
] as const
export type MissClass = (typeof MISS_CLASSES)[number]
type Cause = Exclude<MissClass, 'unknown'>

export interface MissedRoundCause {
  readonly class: MissClass
  /** What was measured, the deciding figures first. */
  readonly figures: readonly string[]
}

export interface MissedRoundFacts {
  /** Null if the log does not show rounds at that time: its level is INFO, lines were dropped, or it was not read. */
  readonly log: RoundTimes | null
  readonly readings: RoundReadings
}

/**
 * A message may take three deltas of a round before its timer, of three deltas, the vote pace and one delta for local
 * processing, ends (monad-consensus/src/pacemaker.rs, get_round_timer; monad-consensus-state/src/lib.rs, new).
 */
const LATE_MS = 3 * NODE_FACTS.delta.value
/** A node that runs has a line at least once per round timer, also while no round ends: handle_timeout_expiry. */
const SILENT_MS = 10 * second
/** The limits of the alerts ChainIsolated and ChainUdpDrops. */
const FEW_SESSIONS = 5
const DROP_RATIO = 0.01
/** Ten times what a healthy host has; it leaves a tenth of each round timer. */
const DISK_RATIO = 0.1
/** Of 50 rounds of a healthy network at most 3 in 100 time out: 5 or more are chance in less than 2 of 100 cases. */
const TIMED_OUT_RATIO = 0.1
const MIN_OTHERS = 20

/** How far the node came in its round. */
type Stage = 'absent' | 'late' | 'silent' | 'proposed' | 'certified' | 'unknown'

/**
 * The causes that are possible at each stage, in order of precedence: first what excludes or explains the others. `late`:
 * packets that did not arrive explain a late parent, and so does a network in which other rounds time out as well.
 * `silent`: only this node can be the reason that it does not propose. `proposed`: packets that this node lost cannot keep
 * the votes for its block from the next leader, to whom they are sent (monad-consensus-state/src/lib.rs,
 * send_vote_and_reset_timer), nor can its disk; a timestamp that other nodes reject gets no vote at all. `certified`: the
 * leaders after it did not build on the block, which no figure of this node explains.
 */
const POSSIBLE: Readonly<Record<Stage, readonly Cause[]>> = {
  absent: ['own outage'],
  late: ['peers', 'UDP', 'network', 'disk', 'late parent'],
  silent: ['execution', 'late parent', 'disk'],
  proposed: ['clock', 'peers', 'network', 'votes'],
  certified: [],
  unknown: ['peers', 'clock'],
}

const isLate = (ms: number, usual: number | null): boolean => ms > (usual ?? 0) + LATE_MS

const stageOf = ({ log, readings }: MissedRoundFacts): Stage => {
  if (!log) return readings.outage === null ? 'unknown' : 'absent'
  const { enteredBy, previousMs, usualPreviousMs, proposalMs, usualProposalMs } = log
  if (log.closedBy === 'qc' && proposalMs !== null && !log.isReproposal) return 'certified'
  if (log.obstacle !== null) return 'silent'
  if (enteredBy === null) return log.silentMs >= SILENT_MS || readings.outage !== null ? 'absent' : 'late'
  // After a timeout the round before is long for every node.
  if (enteredBy === 'qc' && previousMs !== null && usualPreviousMs !== null && isLate(previousMs, usualPreviousMs))
    return 'late'
  if (log.isReproposal) return 'late'
  return proposalMs === null || isLate(proposalMs, usualProposalMs) ? 'silent' : 'proposed'
}

const usual = (ms: number | null): string => (ms === null ? '' : ` (usual ${figure(Math.round(ms))} ms)`)

const proposalText = ({ proposalMs, usualProposalMs }: RoundTimes): string =>
  proposalMs === null
    ? 'the node entered the round and proposed no block'
    : `proposal ${figure(proposalMs)} ms after the round began${usual(usualProposalMs)}`

const parentText = ({ enteredBy, isReproposal, previousMs, usualPreviousMs }: RoundTimes): string => {
  if (enteredBy === null) return 'the node did not enter the round: it had the certificate of a later one first'
  return isReproposal
    ? 'the round before timed out, and the node proposed the block of that round again'
    : `the round before took ${figure(previousMs ?? 0)} ms on this node${usual(usualPreviousMs)}`
}

/** What the log has of the stage. */
const stageTexts = (stage: Stage, { log, readings }: MissedRoundFacts): readonly string[] => {
  if (!log) return [readings.outage ?? 'the consensus log has no rounds of that time']
  if (stage === 'absent') {
    const silent = `no line of consensus about a round for ${duration(log.silentMs)}`
    return [...(readings.outage === null ? [] : [readings.outage]), ...(log.silentMs >= SILENT_MS ? [silent] : [])]
  }
  if (stage === 'late') return [parentText(log)]
  return [...(stage === 'certified' ? ['the block got a certificate and was abandoned later'] : []), proposalText(log)]
}

const OBSTACLES = {
  execution: 'consensus logged that execution has no result to build on',
  parent: 'consensus logged that it does not have the block before, or could not check it',
} as const

/** What shows that a cause applies; null if it does not, or if that is unknown. */
const EVIDENCE: Readonly<Record<Cause, (facts: MissedRoundFacts) => string | null>> = {
  'own outage': () => '',
  execution: ({ log, readings: { executionLagging } }) => {
    if (log?.obstacle === 'execution') return OBSTACLES.execution
    return (executionLagging ?? 0) > 0
      ? `execution was behind for ${count(executionLagging ?? 0, 'check')} of a block`
      : null
  },
  // Behind, the node takes the time of its parent (timestamp.rs, get_valid_block_timestamp), unless that is too old.
  clock: ({ log, readings: { clockOffsetMs } }) => {
    if (clockOffsetMs === null || Math.abs(clockOffsetMs) <= TIMESTAMP_TOLERANCE_MS) return null
    if (clockOffsetMs < 0 && log?.enteredBy !== 'tc') return null
    const where = clockOffsetMs > 0 ? 'ahead' : 'behind'
    return `the clock was ${figure(Math.round(Math.abs(clockOffsetMs)))} ms ${where}; other nodes accept ${figure(TIMESTAMP_TOLERANCE_MS)} ms`
  },
  peers: ({ readings: { sessions } }) =>
    sessions !== null && sessions < FEW_SESSIONS ? `${count(sessions, 'session')} with peers` : null,
  UDP: ({ readings: { udpDropRatio, cardDropRatio } }) => {
    if (udpDropRatio !== null && udpDropRatio >= DROP_RATIO)
      return `the host dropped ${share(udpDropRatio)} of its UDP packets`
    return cardDropRatio !== null && cardDropRatio >= DROP_RATIO
      ? `the network card lost ${share(cardDropRatio)} of its packets`
      : null
  },
  network: ({ log }) => {
    const { closed, timedOut } = log?.others ?? { closed: 0, timedOut: 0 }
    if (closed < MIN_OTHERS || timedOut / closed < TIMED_OUT_RATIO) return null
    return `${figure(timedOut)} of ${figure(closed)} rounds of other leaders around it timed out`
  },
  disk: ({ readings: { diskStalledRatio } }) =>
    diskStalledRatio !== null && diskStalledRatio >= DISK_RATIO
      ? `all programs waited for the disk for ${share(diskStalledRatio)} of the time`
      : null,
  'late parent': ({ log }) => (log?.obstacle === 'parent' ? OBSTACLES.parent : log?.obstacle === null ? '' : null),
  votes: ({ log }) =>
    log?.closedBy === 'tc' && log.closedMs !== null
      ? `no certificate for it: a timeout closed the round after ${figure(log.closedMs)} ms`
      : null,
}

/** Measured apart from the stage: listed also where they are not the class. */
const MEASURED: readonly Cause[] = ['clock', 'peers', 'UDP', 'network', 'disk']

/** The class of a missed round and the figures that decide it; `unknown` if none is shown by the facts. */
export const classifyMissedRound = (facts: MissedRoundFacts): MissedRoundCause => {
  const stage = stageOf(facts)
  const shown = POSSIBLE[stage].filter((cause) => isShown(cause, stage, facts))
  const [found] = shown
  const evidence = found === undefined ? '' : (EVIDENCE[found](facts) ?? '')
  const also = MEASURED.filter((cause) => cause !== found).flatMap((cause) => EVIDENCE[cause](facts) ?? [])
  const texts = [
    ...(evidence === '' ? [] : [evidence]),
    ...stageTexts(stage, facts),
    ...also.map((text) => `also: ${text}`),
  ]
  return { class: found ?? 'unknown', figures: texts }
}

/** A node that proposes nothing and logs no obstacle has no late parent. */
const isShown = (cause: Cause, stage: Stage, facts: MissedRoundFacts): boolean => {
  if (cause === 'late parent' && stage === 'silent') return facts.log?.obstacle === 'parent'
  return EVIDENCE[cause](facts) !== null
}
