import { isStarting, isSyncing, networkHead } from '../domain/agreement.ts'
import { count, duration, figure, joinList, shortDuration, utc } from '../core/format.ts'
import type { Tone } from '../domain/health.ts'
import type { RuleFinding } from '../parsers/agent-status.ts'
import { blocksyncWindow, byDefault, NODE_FACTS } from '../domain/node-facts.ts'
import { minute, second } from '../core/units.ts'
import { blocksyncLeft } from './gap.ts'
import { epochEnd, epochEndText } from './epoch-end.ts'
import {
  BEHIND_BLOCKS,
  blockAge,
  FRESH_S,
  isAdvancing,
  isNodeDown,
  NO_REFERENCES,
  referencesText,
  servicesOf,
  systemdFailure,
} from './facts.ts'
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

/** The tone, and so the mark, of a condition on every surface. A cost has none. */
export const RESTART_TONES = { ok: 'good', no: 'bad', unknown: 'unknown' } as const satisfies Record<
  RestartCheck['state'],
  Tone
>

/** The own rounds of the time away: what the restart costs. It is not a condition: a missed round costs one reward. */
export interface RestartCost {
  /** Null is unknown. */
  readonly rounds: number | null
  /** The start with the fewest own rounds, in milliseconds since the epoch; null if none with fewer is known. */
  readonly fewest: { readonly rounds: number; readonly at: number } | null
  /** Until when the leader schedule is known; null if the number does not come from it. */
  readonly knownUntil: number | null
  /** Without its full stop. */
  readonly summary: string
}

export type RestartWindow = ReturnType<typeof restartWindow>

export interface Outcome extends Omit<RestartCheck, 'name'> {
  /** When an obstacle has ended, in milliseconds since the epoch, and by what; without it that is not known. */
  readonly until?: { readonly at: number; readonly because: string }
}

type Check = (input: RestartInput) => Outcome

export const ok = (summary: string): Outcome => ({ state: 'ok', summary, isRequired: true })
export const no = (summary: string): Outcome => ({ state: 'no', summary, isRequired: true })
export const unknown = (summary: string): Outcome => ({ state: 'unknown', summary, isRequired: true })
/** An unknown condition that does not prevent the restart; it is listed. */
export const listed = (summary: string): Outcome => ({ state: 'unknown', summary, isRequired: false })

const services: Check = (input) => {
  const { known } = input
  if (servicesOf(known).length === 0) return unknown(systemdFailure(input))
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

const references: Check = ({ known, collectors }) => {
  const text = referencesText({ known, collectors })
  // The age of the newest block also shows whether the node keeps up.
  if (text === NO_REFERENCES) return listed(text)
  if (networkHead(known) === undefined) return unknown(`no majority agrees on a height; ${text}`)
  return ok(`${text}, and a majority agrees`)
}

/** Seconds: the consensus log has entries every second. */
const SILENT_S = 20

const network: Check = ({ known, at }) => {
  const finding = known.value('chain_consensus_finding', { finding: 'rounds_closed_by_timeout' })
  if (finding === undefined) return unknown('the consensus log does not show how many rounds time out')
  const entryAt = known.value('chain_agent_journal_last_entry_timestamp_seconds', { service: 'bft' })
  const age = entryAt === undefined ? 0 : at / second - entryAt
  if (age > SILENT_S) return unknown(`the newest entry of the consensus log is ${shortDuration(age * second)} old`)
  return finding === 1
    ? no('too many rounds of the last minute timed out: the network needs every validator')
    : ok('rounds close without timeouts, or with few')
}

/** A restart with the installed version is part of the solution, unless a timeline is missing. */
const SOLVED_BY_RESTART = ['ChainForkNotReady']
/** Warnings of conditions with which a start fails. */
const PREVENTS_START = [
  'ChainHostSetUp.huge-pages',
  'ChainHostSetUp.kernel',
  'ChainKeyFile.invalid',
  'ChainKeyFile.missing',
]

/** Services have a check of their own. A unit that systemd does not know cannot be started. */
const SERVICE_DOWN = ['ChainServiceDown', 'ChainServiceDown.failed']

const preventsRestart = ({ alert, severity, countsAs, explainedBy, labels }: RuleFinding): boolean => {
  if (PREVENTS_START.includes(alert)) return labels['kernel'] !== 'pending' && labels['kind'] !== 'backup'
  if (SOLVED_BY_RESTART.includes(alert)) return severity === 'critical' && labels['check'] === 'timeline'
  // What follows from another finding ends with it.
  return countsAs === 'critical' && explainedBy.length === 0 && !SERVICE_DOWN.includes(alert)
}

/** The collectors whose readings show the conditions with which a start fails. */
const START_SOURCES = ['host', 'keys']

const findings: Check = ({ health, collectors }) => {
  if (health.unknownBecause === 'no evaluation') return unknown('the alert rules have not been evaluated')
  const names = health.findings.filter((finding) => preventsRestart(finding)).map(({ alert }) => alert)
  if (names.length > 0) return no(`critical: ${joinList([...new Set(names)])}`)
  const unread = collectors.filter(({ name, enabled, up }) => START_SOURCES.includes(name) && enabled && up !== true)
  return unread.length > 0
    ? unknown(`no reading of ${joinList(unread.map(({ name }) => name))}`)
    : ok('no finding with which a start may fail')
}

/** Both recorded crashes of a restarted node were at an epoch boundary. */
const epoch: Check = (input) => {
  const { at, span } = input
  const end = epochEnd(input)
  if ('unknownBecause' in end) return unknown(end.unknownBecause)
  const summary = epochEndText(end, at)
  if (end.latestAt <= at) return listed(summary)
  const until = { at: end.latestAt, because: 'when the next epoch has started' }
  return end.expectedAt < at + span ? { ...no(summary), until } : ok(summary)
}

/** Before and after an own round: the times are estimates. */
const AROUND_MS = 2 * second

const ownRounds = (input: RestartInput): RestartCost => {
  const { known, readings, at, span } = input
  const { schedule } = readings
  const stake = known.value('chain_native_stake_ratio')
  const none = { fewest: null, knownUntil: null }
  if (stake === 0) return { ...none, rounds: 0, summary: 'none: a node without stake leads no rounds' }
  const until = schedule?.until?.slotAt ?? null
  if (!schedule?.own || until === null || until < at + span) {
    const why =
      schedule?.own && until !== null && until > at
        ? `the leader schedule is known for ${duration(until - at)} only`
        : (schedule?.problem ?? 'there is no leader schedule')
    const rate = known.value('chain_blocks_per_second')
    if (stake === undefined || rate === undefined) return { ...none, rounds: null, summary: why }
    const rounds = rounded((stake * rate * span) / second)
    return { ...none, rounds, summary: `about ${figure(rounds)} in this time, by its share of the stake; ${why}` }
  }
  const times = schedule.own.flatMap(({ slotAt }) => (slotAt === null || slotAt < at ? [] : [slotAt]))
  const ledFrom = (start: number): number =>
    times.filter((time) => time + AROUND_MS > start && time - AROUND_MS < start + span).length
  const led = ledFrom(at)
  const end = epochEnd(input)
  const meetsEpochEnd = (start: number): boolean =>
    'expectedAt' in end && start + span > end.expectedAt && start < end.latestAt
  const starts = times.map((time) => time + AROUND_MS).filter((start) => start + span <= until && !meetsEpochEnd(start))
  const best = starts.reduce((least, start) => (ledFrom(start) < ledFrom(least) ? start : least), at)
  const fewest = best === at ? null : { rounds: ledFrom(best), at: best }
  const [first] = times
  const next = first === undefined ? 'none is known' : `the next one in ${duration(first - at)}`
  const choice =
    led === 0
      ? next
      : fewest === null
        ? 'no start with fewer is known'
        : `${fewestText(fewest)}, in ${duration(best - at)}`
  const rounds =
    led === 0 ? 'none in this time' : `${figure(led)} in this time, the first in ${duration((first ?? at) - at)}`
  return { rounds: led, fewest, knownUntil: until, summary: `${rounds}; ${choice}; ${bySchedule(until)}` }
}

/** An expected number of rounds. */
const rounded = (rounds: number): number => (rounds < 1 ? Number(rounds.toFixed(1)) : Math.round(rounds))

const fewestText = ({ rounds, at }: NonNullable<RestartCost['fewest']>): string =>
  `the fewest, ${figure(rounds)}, from ${utc(at)}`

const bySchedule = (until: number): string => `by the leader schedule, known until ${utc(until)}`

/** The cost in the summary; empty if there is none. */
const costText = ({ rounds, fewest, knownUntil }: RestartCost): string => {
  if (rounds === null || rounds === 0) return ''
  const choice = fewest === null || knownUntil === null ? '' : `; ${fewestText(fewest)}, ${bySchedule(knownUntil)}`
  return `; costs about ${count(rounds, 'own round')}${choice}`
}

/** The last start took this time; the next one may take twice as long. */
const RESERVE = 2

/** Rounds are not faster: a rate that is not measured is not assumed to be lower. */
const MAX_RATE = second / NODE_FACTS.votePace.value

/** The network moves on while the services are away, and until the start has reached it. */
const blocksync: Check = ({ known, at, span }) => {
  const measured = known.value('chain_blocks_per_second')
  const rate = measured === undefined || measured === 0 ? MAX_RATE : measured
  const left = blocksyncLeft({ known, at })?.blocks ?? blocksyncWindow(known)
  const start = known.value('chain_last_start_seconds')
  const reserve = (start ?? 0) * RESERVE
  const behind = (span / second + reserve) * rate
  const pace = `at ${rate.toFixed(1)} blocks a second${measured === rate ? '' : ', the most that consensus allows'}`
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

const CHECKS = { services, sync, references, network, findings, epoch, blocksync }

/** Whether consensus and execution can be stopped together now, and be started after `span`, and what that costs. */
export const restartWindow = (input: RestartInput) => {
  const { at, span } = input
  const outcomes = Object.entries(CHECKS).map(([name, check]) => ({ name, ...check(input) }))
  const cost = ownRounds(input)
  const obstacles = outcomes.filter(({ state, isRequired }) => state === 'no' || (state === 'unknown' && isRequired))
  const isSafe = obstacles.length === 0
  const gaps = [
    ...outcomes.filter(({ state }) => state === 'unknown').map(({ name }) => name),
    ...(cost.rounds === null ? ['own rounds'] : []),
  ]
  const unknowns = gaps.length === 0 ? '' : `; unknown: ${joinList(gaps)}`
  const reasons = obstacles.map(({ name, state, summary }) =>
    state === 'unknown' ? `${name} unknown: ${summary}` : summary,
  )
  const ends = obstacles.flatMap(({ until }) => until ?? [])
  // Of the other obstacles it is not known when they end.
  const last = ends.length < obstacles.length ? undefined : ends.toSorted((a, b) => b.at - a.at)[0]
  const next = last ? `; next safe at about ${utc(last.at)}, in ${duration(last.at - at)}, ${last.because}` : ''
  return {
    isSafe,
    /** One sentence, without its full stop. */
    summary: isSafe
      ? `safe now, for ${duration(span)}${costText(cost)}${unknowns}`
      : `not now: ${reasons.join('; ')}${next}`,
    /** The conditions of safety. */
    checks: outcomes.map(({ until: _until, ...check }): RestartCheck => check),
    ownRounds: cost,
    /** The next time at which a restart is safe, in milliseconds since the epoch; null if it cannot be known. */
    nextAt: isSafe ? at : (last?.at ?? null),
  }
}
