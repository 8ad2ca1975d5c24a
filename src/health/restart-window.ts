import { chainIdOf, isStarting, isSyncing, networkHead, newestBlock, USUAL_RATE } from '../domain/agreement.ts'
import { epochPosition } from '../domain/epoch.ts'
import { count, duration, figure, joinList, shortDuration, utc } from '../core/format.ts'
import type { RuleFinding } from '../domain/health.ts'
import type { SampleIndex } from '../core/metric.ts'
import { blocksyncWindow, byDefault } from '../domain/node-distances.ts'
import { NODE_FACTS } from '../domain/node-facts.ts'
import { minute, second } from '../core/units.ts'
import { BEHIND_BLOCKS, blockAge, blockRate, FRESH_S, isAdvancing, isNodeDown, referencesText, servicesOf } from './facts.ts'
import type { HealthInput, NodeSnapshot } from './snapshot.ts'

/** What a restart window is evaluated from. */
export interface RestartInput extends HealthInput, Pick<NodeSnapshot, 'health' | 'epochs'> {
  /** How long the services may be away before they are started, in milliseconds. */
  readonly span: number
}

/** How long the services may be away if no other time is given: half of what the blocksync window allows by default. */
export const RESTART_MS = 2 * minute

/** One condition of a restart. */
export interface RestartCheck {
  readonly name: string
  /** `no`: a restart is not safe because of it. */
  readonly state: 'ok' | 'no' | 'unknown'
  /** Without its full stop. */
  readonly summary: string
  /** Whether the restart is not safe while the condition is unknown. */
  readonly isRequired: boolean
}

export interface RestartWindow {
  readonly isSafe: boolean
  /** One sentence, without its full stop. */
  readonly summary: string
  readonly checks: readonly RestartCheck[]
  /** The next time at which a restart is safe, in milliseconds since the epoch; null if it cannot be known. */
  readonly nextAt: number | null
}

/** A time in which a restart is not safe, in milliseconds since the epoch. */
interface BusyTime {
  readonly from: number
  readonly to: number
}

interface Outcome extends Omit<RestartCheck, 'name'> {
  /** The times that decide about the state, now and later. */
  readonly busy?: readonly BusyTime[]
  /** Busy times after this one are not known. */
  readonly knownUntil?: number
  /** Rounds that the node will miss, now or later. */
  readonly cost?: number
}

type Check = (input: RestartInput) => Outcome

const ok = (summary: string): Outcome => ({ state: 'ok', summary, isRequired: true })
const no = (summary: string): Outcome => ({ state: 'no', summary, isRequired: true })
const unknown = (summary: string): Outcome => ({ state: 'unknown', summary, isRequired: true })
/** An unknown condition that does not prevent the restart; it is listed. */
const listed = (summary: string): Outcome => ({ state: 'unknown', summary, isRequired: false })

const services: Check = ({ known }) => {
  if (servicesOf(known).length === 0) return unknown('systemd reported no service')
  const down = ['bft', 'execution'].filter((service) => isNodeDown(known, service))
  if (down.length > 0) return no(`${joinList(down)} ${down.length === 1 ? 'is' : 'are'} down`)
  return ['bft', 'execution'].every((service) => known.value('chain_service_active', { service }) === 1)
    ? ok('consensus and execution run')
    : unknown('systemd does not report both consensus and execution')
}

const sync: Check = (input) => {
  const { known } = input
  if (isSyncing(known)) return no('the node runs statesync')
  if (isStarting(known)) return no('consensus is starting')
  const age = blockAge(input)
  if (age === undefined) return unknown('no source reports a block')
  if (age > FRESH_S) return no(`the newest block is ${shortDuration(age * second)} old`)
  const behind = known.value('chain_block_difference')
  if (behind !== undefined && behind > BEHIND_BLOCKS) return no(`the node is ${count(behind, 'block')} behind`)
  return isAdvancing(input) ? ok('the newest block is fresh') : unknown('whether blocks arrive is not known')
}

const references: Check = ({ known }) => {
  const text = referencesText(known)
  // The age of the newest block also shows whether the node keeps up.
  if (text === undefined) return listed('none are configured')
  if (networkHead(known) === undefined) return unknown(`no majority agrees on a height; ${text}`)
  return ok(`${text}, and a majority agrees`)
}

const network: Check = ({ known }) => {
  const finding = known.value('chain_consensus_finding', { finding: 'rounds_closed_by_timeout' })
  if (finding === undefined) return unknown('the consensus log does not show how many rounds time out')
  return finding === 1
    ? no('too many rounds of the last minute timed out: the network needs every validator')
    : ok('rounds close without timeouts, or with few')
}

/** A restart with the installed version is part of the solution, unless a timeline is missing. */
const SOLVED_BY_RESTART = ['ChainForkNotReady']
/** Warnings of conditions with which a start fails. */
const PREVENTS_START = ['ChainHugePagesMissing', 'ChainKernelBlocked', 'ChainKeyFileInvalid', 'ChainKeyFileMissing']

const preventsRestart = ({ alert, severity, countsAs, explainedBy, labels }: RuleFinding): boolean => {
  if (PREVENTS_START.includes(alert)) return labels['kernel'] !== 'pending' && labels['kind'] !== 'backup'
  if (SOLVED_BY_RESTART.includes(alert)) return severity === 'critical' && labels['check'] === 'timeline'
  // What follows from another finding ends with it; services have a check of their own.
  return countsAs === 'critical' && explainedBy.length === 0 && alert !== 'ChainServiceDown'
}

const findings: Check = ({ health }) => {
  if (health.unknownBecause === 'no evaluation') return unknown('the alert rules have not been evaluated')
  const names = health.findings.filter((finding) => preventsRestart(finding)).map(({ alert }) => alert)
  return names.length === 0
    ? ok('no finding with which a start may fail')
    : no(`critical: ${joinList([...new Set(names)])}`)
}

/** Blocks: a source that is further behind another one has stopped. */
const SAME_HEIGHT = 30

/** The epoch of a recent block. */
const epochAndHeight = (known: SampleIndex): { readonly epoch: number; readonly height: number } | undefined => {
  const newest = newestBlock(known)?.height ?? 0
  return [
    {
      epoch: known.value('chain_ledger_epoch', { event: 'proposed' }),
      height: known.value('chain_ledger_seq_num', { event: 'proposed' }),
    },
    { epoch: known.value('chain_consensus_epoch'), height: known.value('chain_consensus_block_number') },
  ]
    .flatMap(({ epoch, height }) => (epoch === undefined || height === undefined ? [] : [{ epoch, height }]))
    .find(({ height }) => newest - height <= SAME_HEIGHT)
}

/** Both recorded crashes of a restarted node were at an epoch boundary. */
export const epochEnd = ({
  known,
  epochs,
  at,
  span,
}: Pick<RestartInput, 'known' | 'epochs' | 'at' | 'span'>): Outcome => {
  const newest = epochAndHeight(known)
  if (!newest) return unknown('neither the ledger stream nor the consensus log shows the epoch of a recent block')
  const chainId = chainIdOf(known)
  if (chainId === null) return unknown('the chain id is not known, and so the length of an epoch is not')
  const length = epochs.get(chainId)
  if (!length) return unknown(`the length of an epoch of chain ${chainId} is not known (staking.epochBlocks)`)
  const position = epochPosition(newest, length)
  const name = `epoch ${figure(newest.epoch)}`
  if (!position) return unknown(`block ${figure(newest.height)} does not fit ${name} of chain ${chainId}`)
  const measured = known.value('chain_blocks_per_second')
  const timeOf = (blocks: number): number => (blocks / blockRate(known)) * second
  // On a node that is stalled or behind: the network has gone on since its newest block.
  const age = blockAge({ known, at }) ?? 0
  const passed = age > FRESH_S ? age * second : 0
  const basis = measured === undefined ? `, at an assumed ${USUAL_RATE} blocks a second` : ''
  if (position.phase === 'delay') {
    const to = at + timeOf(position.blocksLeft) - passed
    if (to < at) return listed(`${name} has ended; how far the next one is, is not known`)
    const summary = `${name} has ended and the next one has not started: it starts within ${duration(to - at)}${basis}`
    return { ...no(summary), busy: [{ from: at, to }] }
  }
  const from = at + timeOf(position.blocksLeft) - passed
  if (from < at) return listed(`${name} has ended, by the time since the newest block`)
  const busy = [{ from, to: from + timeOf(length.delayRounds) }]
  const summary = `${name} ends in about ${duration(from - at)}${basis}`
  return { ...(from < at + span ? no(summary) : ok(summary)), busy }
}

/** Before and after an own round: the times are estimates. */
const AROUND_MS = 2 * second

const ownRounds: Check = ({ known, readings: { schedule }, at, span }) => {
  const stake = known.value('chain_native_stake_ratio')
  if (stake === 0) return ok('a node without stake leads no rounds')
  const until = schedule?.until?.slotAt ?? null
  if (!schedule?.own || until === null || until <= at) return unknownRounds({ stake, known, span, schedule })
  const times = schedule.own.flatMap(({ slotAt }) => (slotAt === null || slotAt < at ? [] : [slotAt]))
  const busy = times.map((time) => ({ from: time - AROUND_MS, to: time + AROUND_MS }))
  if (until < at + span) return listed(`the schedule is known for ${duration(until - at)} only`)
  const [first] = times
  const ledFrom = (start: number): number => busy.filter(({ from, to }) => to > start && from < start + span).length
  const led = ledFrom(at)
  if (first === undefined || led === 0) {
    const next = first === undefined ? 'none is known' : `the next one is in ${duration(first - at)}`
    return { ...ok(`the node leads no round in this time; ${next}`), busy, knownUntil: until }
  }
  const starts = busy.map(({ to }) => to).filter((start) => start + span <= until)
  const best = starts.reduce((least, start) => (ledFrom(start) < ledFrom(least) ? start : least), at)
  const summary = `the node leads ${count(led, 'round')} in this time, the first in ${duration(first - at)}`
  if (ledFrom(best) === 0) return { ...no(summary), busy, knownUntil: until }
  // To wait would not help.
  const fewest = best === at ? '' : `; the fewest, ${figure(ledFrom(best))}, from ${utc(best)}`
  return { ...ok(`${summary}; no interval without own rounds is known before ${utc(until)}${fewest}`), cost: led }
}

interface UnknownRounds extends Pick<RestartInput, 'known' | 'span'> {
  readonly stake: number | undefined
  readonly schedule: RestartInput['readings']['schedule']
}

/** Many hosts cannot know them, and a missed round costs one reward. */
const unknownRounds = ({ stake, known, span, schedule }: UnknownRounds): Outcome => {
  const rate = known.value('chain_blocks_per_second')
  const why = schedule?.problem ?? 'there is no schedule'
  const expected =
    stake === undefined || rate === undefined
      ? ''
      : `; by its share of the stake the node leads about ${((stake * rate * span) / second).toFixed(1)} in this time`
  return listed(`${why}${expected}`)
}

/** The last start took this time; the next one may take twice as long. */
const RESERVE = 2

/** Rounds are not faster: a rate that is not measured is not assumed to be lower. */
const MAX_RATE = second / NODE_FACTS.votePace.value

/** The network moves on while the services are away, and until the start has reached it. */
const blocksync: Check = ({ known, span }) => {
  const measured = known.value('chain_blocks_per_second')
  const rate = measured === undefined || measured === 0 ? MAX_RATE : measured
  const left = known.value('chain_blocksync_window_remaining_blocks') ?? blocksyncWindow(known)
  const start = known.value('chain_last_start_seconds')
  const reserve = (start ?? 0) * RESERVE
  const behind = (span / second + reserve) * rate
  const pace = `at ${measured === rate ? '' : 'an assumed '}${rate.toFixed(1)} blocks a second`
  const time = `${duration(span)}${start === undefined ? '' : ` and a start of ${duration(reserve * second)} (${RESERVE} times the last one)`}`
  const summary = `${time} are ${count(Math.ceil(behind), 'block')} ${pace}; the node can catch up with ${figure(left)}${byDefault(known)}`
  if (behind >= left) {
    const longest = Math.ceil(left / rate - reserve) - 1
    return no(`${summary}: ${longest < 1 ? 'no time away is safe' : `the longest safe time is --for ${longest}s`}`)
  }
  // Only a restart can measure it.
  return start === undefined
    ? listed(`${summary}; how long a start takes on this host has not been measured`)
    : ok(summary)
}

const CHECKS: readonly (readonly [string, Check])[] = [
  ['services', services],
  ['sync', sync],
  ['references', references],
  ['network', network],
  ['findings', findings],
  ['epoch', epochEnd],
  ['own rounds', ownRounds],
  ['blocksync', blocksync],
]

/** Whether consensus and execution can be stopped together now, and be started after `span`. */
export const restartWindow = (input: RestartInput): RestartWindow => {
  const { at, span } = input
  const outcomes = CHECKS.map(([name, check]) => ({ name, ...check(input) }))
  const checks = outcomes.map(({ name, state, summary, isRequired }) => ({ name, state, summary, isRequired }))
  const obstacles = outcomes.filter(({ state, isRequired }) => state === 'no' || (state === 'unknown' && isRequired))
  // Of the other obstacles it is not known when they end.
  const isTemporary = obstacles.every(({ state, busy }) => state === 'no' && busy !== undefined)
  const busy = outcomes.flatMap((outcome) => outcome.busy ?? [])
  const free = firstFree(busy, { at, span })
  const isKnown = outcomes.every(({ knownUntil = Infinity }) => free + span <= knownUntil)
  const nextAt = isTemporary && isKnown ? free : null
  const isSafe = obstacles.length === 0
  const gaps = outcomes.filter(({ state }) => state === 'unknown' && isSafe).map(({ name }) => name)
  const cost = outcomes.reduce((sum, outcome) => sum + (outcome.cost ?? 0), 0)
  const notes = [
    ...(cost === 0 ? [] : [`; costs about ${count(cost, 'own round')}`]),
    ...(gaps.length === 0 ? [] : [`; unknown: ${joinList(gaps)}`]),
  ]
  const reasons = obstacles.map(({ name, state, summary }) =>
    state === 'unknown' ? `${name} unknown: ${summary}` : summary,
  )
  const next = nextAt === null || isSafe ? '' : `; next safe at about ${utc(nextAt)}, in ${duration(nextAt - at)}`
  return {
    isSafe,
    summary: isSafe ? `safe now, for ${duration(span)}${notes.join('')}` : `not now: ${reasons.join('; ')}${next}`,
    checks,
    nextAt,
  }
}

/** The start of the first time of this length outside of the busy ones. */
const firstFree = (busy: readonly BusyTime[], { at, span }: { readonly at: number; readonly span: number }): number => {
  let start = at
  for (const { from, to } of busy.toSorted((a, b) => a.from - b.from)) {
    if (start + span <= from) return start
    start = Math.max(start, to)
  }
  return start
}
