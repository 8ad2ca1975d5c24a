import type { ConfigOptions } from '../../terminal/config-options.ts'
import { nodeConfigOf } from '../../terminal/config.ts'
import { type ActionContext, unlessInterrupted, sourceContext } from '../../terminal/io.ts'
import { createProgress } from '../../terminal/progress.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { pairs, type Style, wrap } from '../../terminal/style.ts'
import { readNames } from '../../config/key-names.ts'
import { count, duration, figure, shortDuration, tokens, utc } from '../../core/format.ts'
import { MISS_CLASSES, type MissedRoundCause } from '../../domain/missed-round.ts'
import { toApiJson } from '../../core/json.ts'
import { day, minute, second } from '../../core/units.ts'
import { recordingOf } from '../ledger/ledger.ts'
import { type Duties, readDuties } from './duties.ts'

interface DutiesCommandOptions extends ConfigOptions, OutputOptions {
  readonly since?: number
  readonly file?: string
  readonly names?: true
}

export const showDuties = async ({ io, exit, options }: ActionContext<DutiesCommandOptions>): Promise<void> => {
  const { config } = nodeConfigOf(io, options)
  const names = options.names && config.names.file !== null ? readNames(config.names.file) : new Map<string, string>()
  const progress = createProgress(io)
  const duties = await unlessInterrupted(io, exit, () =>
    readDuties({
      config,
      ...sourceContext(io),
      since: options.since ?? io.clock.now() - day,
      recording: recordingOf(io, options.file),
      onProgress: (blocks) => {
        progress.show(`${figure(blocks)} blocks`)
      },
    }),
  ).finally(progress.end)
  if (!duties) return
  printResult(
    { io, options },
    { document: () => dutiesAsJson(duties), lines: (style) => dutiesPage(duties, names, style) },
  )
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

const dutiesPage = (duties: Duties, names: ReadonlyMap<string, string>, style: Style): readonly string[] => {
  const { epochs, missed, gaps } = duties
  const isBad = missed.length > 0 || gaps.length > 0 || duties.unknownSinceAt !== null
  return [
    ...wrap(headline(duties), style).map((line) => style.paint(isBad ? 'notice' : 'strong', line)),
    ...wrap(coverage(duties), style),
    '',
    ...pairs(
      epochs.map((epoch) => [`epoch ${figure(epoch.epoch)}`, epochText(epoch, duties)]),
      style,
    ),
    ...(missed.length > 0 ? ['', 'Missed rounds:'] : []),
    ...pairs(
      missed.map((round) => [utc(round.at), missedText(round, duties, names)]),
      style,
    ),
    ...(duties.omitted === 0 ? [] : [`${count(duties.omitted, 'earlier missed round')} not listed.`]),
    ...(gaps.length > 0 ? ['', 'Gaps of the stream:'] : []),
    ...pairs(
      gaps.slice(-MAX_GAPS).map((gap) => [utc(gap.fromAt), gapText(gap)]),
      style,
    ),
    ...(gaps.length > MAX_GAPS ? [`${count(gaps.length - MAX_GAPS, 'earlier gap')} not listed.`] : []),
    '',
    ...notes(duties).flatMap((note) => wrap(note, style).map((line) => style.paint('quiet', line))),
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
  names: ReadonlyMap<string, string>,
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
