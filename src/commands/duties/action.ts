import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import type { SourceContext } from '../../terminal/io.ts'
import type { Style } from '../../terminal/style.ts'
import { type KeyNames, namesIn } from '../../config/key-names.ts'
import { count, duration, figure, shortDuration, tokens, utc } from '../../core/format.ts'
import { MISS_CLASSES, type MissedRoundCause } from '../../collectors/schedule/miss-class.ts'
import { toApiJson } from '../../core/json.ts'
import { day, minute, second, hour } from '../../core/units.ts'
import { recordingOf, readLedger } from '../ledger/ledger.ts'
import { FILES } from '../../collectors/schedule/collector.ts'
import { type ClassifiedRound, MISSED_ROUNDS, parseMissedRounds } from '../../collectors/schedule/missed-rounds.ts'
import type { Config } from '../../config/schema.ts'
import { ifUnreadable, SourceError } from '../../core/errors.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { resolvePath } from '../../domain/key-paths.ts'
import { LIMITS } from '../../core/limits.ts'
import { parseValidatorSets, type ValidatorSet } from '../../parsers/validators.ts'
import { createReadOnlyCheckpoints } from '../../sources/checkpoint.ts'
import { createFileTree } from '../../sources/file-tree.ts'
import type { Recording } from '../../sources/journal-range.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { type Events, readEvents } from '../events/events.ts'
import { recordedFirings } from '../events/firings.ts'
import { fetchSnapshot } from '../shared/agent-snapshot.ts'
import { ownKeyOf } from '../shared/own-key.ts'
import { withHost } from '../shared/with-host.ts'
import { createRoundHistory, type MissedRound } from './rounds.ts'

interface DutiesCommandOptions {
  readonly since?: number
  readonly file?: string
  readonly names?: true
}

export const showDuties = async (context: ConfiguredContext<DutiesCommandOptions>): Promise<void> => {
  const { io, exit, options, config, host, gather, print } = context
  const names = namesIn(options.names ? config.names.file : null)
  const duties = await gather((show) =>
    readDuties({
      ...host,
      since: options.since ?? io.clock.now() - day,
      recording: recordingOf(io, options.file),
      onProgress: (blocks) => show(`${figure(blocks)} blocks`),
    }),
  )
  print({ document: () => dutiesAsJson(duties), lines: (style) => dutiesPage(duties, names, style) })
  exit(duties.covered === null ? 1 : 0)
}

/** Times are RFC 3339, amounts decimal strings of wei, unknown is null. */
const dutiesAsJson = ({ from, to, rewards, scheduleProblem, eventsProblem, ...duties }: Duties): unknown =>
  toApiJson({
    fromAt: from,
    toAt: to,
    ...duties,
    rewards: rewards.value,
    unknownBecause: { rewards: rewards.unknownBecause, schedule: scheduleProblem, recorded: eventsProblem },
  })

const dutiesPage = (duties: Duties, names: KeyNames, style: Style): readonly string[] => {
  const { epochs, missed, gaps } = duties
  const isBad = missed.length > 0 || gaps.length > 0 || duties.unknownSinceAt !== null
  return [
    ...style.paragraph(isBad ? 'notice' : 'strong', headline(duties)),
    ...style.wrap(coverage(duties)),
    '',
    ...style.pairs(epochs.map((epoch) => [`epoch ${figure(epoch.epoch)}`, epochText(epoch, duties)])),
    ...(missed.length > 0 ? ['', 'Missed rounds:'] : []),
    ...style.pairs(missed.map((round) => [utc(round.at), missedText(round, duties, names)])),
    ...(duties.omitted === 0 ? [] : [`${count(duties.omitted, 'earlier missed round')} not listed.`]),
    ...(gaps.length > 0 ? ['', 'Gaps of the stream:'] : []),
    ...style.pairs(gaps.slice(-MAX_GAPS).map((gap) => [utc(gap.fromAt), gapText(gap)])),
    ...(gaps.length > MAX_GAPS ? [`${count(gaps.length - MAX_GAPS, 'earlier gap')} not listed.`] : []),
    '',
    ...notes(duties).flatMap((note) => style.paragraph('quiet', note)),
  ]
}

/** The sum of what is known; null if it is not known for one of them. */
const sumOf = (all: readonly (number | null)[]): number | null =>
  all.reduce<number | null>((sum, one) => (sum === null || one === null ? null : sum + one), 0)

/** Own rounds of all epochs. `unseen` are those in gaps of the stream, in addition to the expected ones. */
export const totalsOf = ({ epochs, covered }: Pick<Duties, 'epochs' | 'covered'>) => ({
  led: covered && sumOf(epochs.map(({ led }) => led)),
  missed: covered && sumOf(epochs.map(({ missed }) => missed)),
  expected: covered && sumOf(epochs.map(({ expected }) => expected)),
  unseen: covered && sumOf(epochs.map((epoch) => (epoch.unseen === 0 ? 0 : epoch.unseenOwn))),
})

/** `28 of 31 own rounds led, 0 missed, 3 in gaps of the stream: unknown`; null if no round is known. */
export const outcome = ({ led, missed, expected, unseen }: ReturnType<typeof totalsOf>): string | null => {
  if (led === null || missed === null) return null
  const own =
    expected === null
      ? 'an unknown number of own rounds'
      : unseen === null
        ? `at least ${count(expected, 'own round')}`
        : count(expected + unseen, 'own round')
  const lost = unseen === 0 ? '' : `, ${unseen === null ? 'those' : figure(unseen)} in gaps of the stream: unknown`
  return `${figure(led)} of ${own} led, ${expected === null ? 'at least ' : ''}${figure(missed)} missed${lost}`
}

const headline = (duties: Duties): string => {
  if (duties.covered === null)
    return `No rounds since ${utc(duties.from)}: the ledger stream in the journal has no blocks`
  const text = outcomeSoFar(duties) ?? 'unknown: set node.publicKey, or start the agent'
  return text.startsWith('unknown') ? `Own rounds ${text}` : text
}

/** The outcome of the own rounds, and since when it is unknown; null if no round is known. */
export const outcomeSoFar = (duties: Duties): string | null => {
  const { covered, unknownSinceAt, to } = duties
  const known = outcome(totalsOf(duties))
  if (known === null || covered === null || unknownSinceAt === null) return known
  const age = shortDuration(to - unknownSinceAt)
  // At its start the stream has old blocks: they are not of the time in which it was read.
  return covered.toAt - covered.fromAt < second
    ? `unknown: the ledger stream has blocks of less than 1 s, ${age} ago`
    : `${known} until ${utc(unknownSinceAt)}; since then unknown, for ${age}`
}

/** Which part of the time the stream covers. */
export const coverage = ({ covered, from, to, gaps, epochs }: Duties): string => {
  if (covered === null) return 'What to do: start the service ledger-tail, or use an earlier --since'
  const lost = gaps.reduce((sum, gap) => sum + gap.toAt - gap.fromAt, 0)
  const length = covered.toAt - covered.fromAt - lost
  const unseen = epochs.reduce((sum, epoch) => sum + epoch.unseen, 0)
  const missing =
    gaps.length === 0
      ? ''
      : `; without ${count(gaps.length, 'gap')} of ${duration(lost)} in all, with ${count(unseen, 'round')}`
  return `Covered: ${duration(length)} of ${duration(to - from)}, ${utc(covered.fromAt)} to ${utc(covered.toAt)}${missing}`
}

const epochText = (
  { epoch, rounds, expected, led, missed, leaderUnknown }: Duties['epochs'][number],
  { rewards }: Duties,
): string => {
  const own =
    led === null || missed === null
      ? 'own rounds unknown'
      : expected === null
        ? `${figure(led)} led, at least ${figure(missed)} missed; own rounds unknown: the leader of ${count(leaderUnknown, 'round')} without a block is not known`
        : `${count(expected, 'own round')}: ${figure(led)} led, ${figure(missed)} missed`
  const earned = rewards.value?.find((one) => one.epoch === epoch)
  const reward = earned && earned.pool !== null ? `; rewards ${rewardText(earned.pool, earned.commission)}` : ''
  return `${own}; ${count(rounds, 'round')} in all${reward}`
}

export const rewardText = (pool: bigint, commission: bigint | null): string =>
  `${tokens(pool)} tokens for delegators, ${commission === null ? 'commission unknown' : `${tokens(commission)} commission`}`

const HOW = { timeout: 'timed out', skipped: 'no block', abandoned: 'its block was abandoned' } as const

const missedText = (
  { at, epoch, round, how, previousLeader, othersMissed, recorded, cause }: Duties['missed'][number],
  { to }: Duties,
  names: KeyNames,
): string => {
  const before = previousLeader === null ? 'unknown' : (names.get(previousLeader) ?? shortKey(previousLeader))
  return `epoch ${figure(epoch)}, round ${figure(round)}: ${HOW[how]}; ${causeText(cause, to - at)}; leader before ${before}; ${figure(othersMissed)} of the 50 rounds before without a block; ${recordedText(recorded)}`
}

/** The agent classifies a round when what follows it is read. */
const CLASSIFIED_WITHIN_MS = minute

const causeText = (cause: MissedRoundCause | null, age: number): string => {
  if (cause !== null) return `class ${cause.class}: ${cause.figures.join(', ')}`
  return age < CLASSIFIED_WITHIN_MS ? 'class not known yet' : 'class unknown: not recorded'
}

/** `2 votes, 1 unknown`; null without a missed round. */
export const classCounts = (missed: Duties['missed']): Readonly<Record<string, number>> =>
  Object.fromEntries(
    MISS_CLASSES.flatMap((one) => {
      const found = missed.filter(({ cause }) => (cause?.class ?? 'unknown') === one).length
      return found === 0 ? [] : [[one, found]]
    }),
  )

const MAX_GAPS = 20

/** What the agent recorded tells a node that was down from a stream that was not read. */
const gapText = ({ fromAt, toAt, recorded }: Duties['gaps'][number]): string =>
  `${duration(toAt - fromAt)}; ${recordedText(recorded)}`

const recordedText = (recorded: readonly string[] | null): string =>
  `recorded then: ${recorded === null ? 'unknown' : recorded.length === 0 ? 'nothing' : recorded.join(', ')}`

const shortKey = (key: string): string => `${key.slice(0, 4)}..${key.slice(-4)}`

const notes = (duties: Duties): readonly string[] => {
  const { missed, unparsed, rewards, scheduleProblem, recordedFromAt, eventsProblem, epochs } = duties
  const hasUnrecorded = recordedFromAt !== null && missed.some(({ at }) => at < recordedFromAt)
  return [
    ...(unparsed === 0 ? [] : [`${count(unparsed, 'line')} of the stream could not be parsed.`]),
    ...(scheduleProblem === null ? [] : [`No leader schedule: ${scheduleProblem}.`]),
    ...epochs
      .filter(({ schedule }) => schedule === 'not proved')
      .map(
        ({ epoch }) =>
          `The leader schedule of epoch ${figure(epoch)} is not used: not proved by 200 blocks without exception.`,
      ),
    ...(eventsProblem === null ? [] : [`What else happened is unknown: ${eventsProblem}.`]),
    ...(hasUnrecorded ? [`The agent has stored events from ${utc(recordedFromAt)} on.`] : []),
    rewards.unknownBecause === null
      ? 'Rewards are those that the agent measured: of an epoch that it did not follow from its start to its end, a part.'
      : `Rewards unknown: ${rewards.unknownBecause}.`,
  ]
}

export interface DutiesOptions extends SourceContext {
  readonly config: Config
  /** Milliseconds since the epoch. */
  readonly since: number
  /** Replaces the journal. */
  readonly recording?: (() => Recording) | undefined
  readonly onProgress?: (blocks: number) => void
}

/** What was read, or why it could not be read. */
export type Known<T> = { readonly value: T; readonly unknownBecause: null } | ReturnType<typeof asUnknown>

export const asKnown = <T>(value: T): Known<T> => ({ value, unknownBecause: null })
export const asUnknown = (unknownBecause: string) => ({ value: null, unknownBecause })

export type Duties = Awaited<ReturnType<typeof readDuties>>

/** The own rounds of an interval, from the ledger stream in the journal. Throws a SourceError if it cannot be read. */
export const readDuties = async (options: DutiesOptions) => {
  const { clock, since, recording, onProgress = () => undefined } = options
  const to = clock.now()
  const agent = await attempt(() => fetchSnapshot(options))
  const key = await ownKeyOf(options.config, agent.value)
  const sets = await attempt(() => readSets(options))
  const history = createRoundHistory(key, sets.value ?? [])
  let unparsed = 0
  for await (const { rows, summary } of readLedger({ ...options, ownKey: key }, { since, until: to, recording })) {
    for (const row of rows) history.add(row)
    unparsed = summary.unparsed
    onProgress(summary.blocks)
  }
  const { missed, gaps, covered, ...rounds } = history.read()
  const isRecording = recording !== undefined
  // Alerts may have begun to fire before the interval.
  const events = isRecording ? OF_RECORDING : await attempt(() => readEvents({ ...options, since: undefined }))
  const classified = isRecording ? NONE : await readClassified(options)
  /** What the agent recorded around that time; null if it has no record of it. */
  const recordedThen = events.value && recordedAround(events.value)
  const recordedAt = (at: number) => ({ recorded: recordedThen && recordedThen(at) })
  return {
    ...rounds,
    covered,
    from: since,
    to,
    /** From then on the stream has no rounds, in milliseconds since the epoch; null if it reaches the present. */
    unknownSinceAt: isRecording || !covered || to - covered.toAt <= SILENT_MS ? null : covered.toAt,
    /** The own key; null if it is not known. */
    key,
    /** Each with the class that the agent gave it; null if it has saved none. */
    missed: missed.map((round) => ({ ...round, ...recordedAt(round.at), cause: causeOf(round, classified) })),
    gaps: gaps.map((gap) => ({ ...gap, ...recordedAt(gap.fromAt) })),
    /** Lines of the stream that could not be parsed. */
    unparsed,
    rewards: isRecording ? OF_RECORDING : rewardsOf(agent),
    /** Why no leader schedule is used; null if there is one. */
    scheduleProblem: sets.unknownBecause,
    /** The agent has stored events from then on, in milliseconds since the epoch. */
    recordedFromAt: events.value?.oldestAt ?? null,
    /** Why nothing is known of what the agent recorded; null if it is. */
    eventsProblem: events.unknownBecause,
  }
}

/** A stream that is read has a block every third of a second. */
const SILENT_MS = 10 * second

/** It may be of another host. */
const OF_RECORDING = asUnknown('a recording does not contain them')

const NONE: ReadonlyMap<bigint, ClassifiedRound> = new Map()

/** The classes that the running agent has saved. */
const readClassified = async ({ config }: DutiesOptions): Promise<ReadonlyMap<bigint, ClassifiedRound>> => {
  const { value } = await createReadOnlyCheckpoints(config.state.directory).open(MISSED_ROUNDS).read()
  return new Map(parseMissedRounds(value).map((one) => [one.round, one]))
}

/** A network that was reset has the same rounds again. */
const SAME_ROUND_MS = hour

const causeOf = ({ round, at }: MissedRound, classified: typeof NONE): MissedRoundCause | null => {
  const found = classified.get(round)
  if (!found || Math.abs(found.at - at) > SAME_ROUND_MS) return null
  return { class: found.class, figures: found.figures }
}

/** A source that cannot be read makes a part of the result unknown. */
export const attempt = <T>(read: () => Promise<T>): Promise<Known<T>> =>
  read()
    .then<Known<T>>(asKnown)
    .catch(ifUnreadable(({ summary }) => asUnknown(summary)))

/** The sets of validators that the node has in a file. */
const readSets = (options: DutiesOptions): Promise<readonly ValidatorSet[]> =>
  withHost(options, async (_, readPrefix) => {
    const { word: prefix } = await readPrefix(options.signal)
    const { directory } = options.config.node
    const file = await resolvePath(`${directory}/${FILES.sets}`, { prefix, files: keyFiles })
    const text = await createFileTree('/').read(file, LIMITS.set.length)
    if (text !== null) return parseValidatorSets(text)
    throw new SourceError({ doing: `read ${FILES.sets}`, happened: 'it was not found in node.directory' })
  })

/** The running agent measures them. */
const rewardsOf = ({ value, unknownBecause }: Known<NodeSnapshot | null>) => {
  if (unknownBecause !== null) return asUnknown(unknownBecause)
  if (!value) return asUnknown('could not read the rewards: the agent, which measures them, is not running')
  const { staking } = value.readings
  return staking
    ? asKnown(staking.rewards)
    : asUnknown('could not read the rewards: the collector staking has no reading')
}

/** An alert begins to fire up to minutes after its cause, and may end before it is noticed. */
const BEFORE_MS = minute
const AFTER_MS = 5 * minute
/** State changes that explain a missed round. */
const CHANGES = new Set(['services', 'maintenance', 'agent'])
const MAX_RECORDED = 6

/** Alerts that fired around a time, and state changes within a minute of it. Null for a time before the first event. */
export const recordedAround = ({ events, oldestAt }: Pick<Events, 'events' | 'oldestAt'>) => {
  const firings = recordedFirings(events)
  const changes = events.filter(({ collector, from }) => CHANGES.has(collector) && from !== null)
  return (at: number): readonly string[] | null => {
    if (oldestAt === null || at < oldestAt) return null
    const texts = [
      ...changes
        .filter((event) => Math.abs(event.at - at) <= BEFORE_MS)
        .map(({ collector, subject, from, to }) => `${subject ?? collector}: ${from ?? ''} \u2192 ${to}`),
      ...firings
        .filter(({ beganAt, endedAt }) => beganAt <= at + AFTER_MS && (endedAt ?? Infinity) >= at - BEFORE_MS)
        .map(({ alert, subject }) => `${alert ?? ''} ${subject}`.trim()),
    ]
    return [...new Set(texts)].slice(0, MAX_RECORDED)
  }
}
