import { chainIdOf } from '../../domain/agreement.ts'
import { type Context, nextTurn } from '../../core/clock.ts'
import { type Collector, metadataOf, poll } from '../../core/collector.ts'
import { epochPosition } from '../../domain/epoch.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { createSampleIndex, type Sample, sampleIfKnown } from '../../core/metric.ts'
import { hour, inSeconds, larger, minute, second } from '../../core/units.ts'
import { resolvePath } from '../../domain/key-paths.ts'
import { createRate } from '../../domain/rate.ts'
import { LIMITS } from '../../core/limits.ts'
import { parseEpochStarts, parseValidatorSets, type ValidatorSet } from '../../parsers/validators.ts'
import type { ReadingOf, Uses } from '../dependencies.ts'
import { definition } from './definition.ts'
import { createMissedRounds, MISSED_ROUNDS } from './missed-rounds.ts'
import { createOwnRounds, createPredictions, type LedgerRound, PROOF_ROUNDS } from './predictions.ts'

type NodeFileUses = 'nodeFiles' | 'nodeDirectory' | 'readPrefix' | 'keyFiles'
type RoundUses = 'roundFeed' | 'ownKey' | 'recorder' | 'epochs' | 'published' | 'roundLog'
type ScheduleUses = Uses<NodeFileUses | RoundUses | 'checkpoints'>

type Reading = ReadingOf<typeof definition>

/** In the directory of the node. */
export const FILES = { sets: 'config/validators/validators.toml', starts: 'config/forkpoint/forkpoint.toml' } as const
/** The files change with the epoch: they are read when it changes, and at this interval. */
const READ_EVERY_MS = minute
/** Own rounds in the reading. */
const MAX_SLOTS = 500
/** Missed rounds in the reading. */
const MAX_MISSED = 20
/** The pace of the rounds is that of the last minutes. */
const PACE = { span: 5 * minute, least: 8 * second }
const NO_SETS: readonly ValidatorSet[] = []
/** Rounds that are compared at once: 5 ms of work. */
const SLICE = 100

/** The files of the node with its sets of validators and the starts of epochs, as they were read last. */
const createSetFiles = ({
  nodeFiles,
  nodeDirectory,
  readPrefix,
  keyFiles: files,
}: Pick<ScheduleUses, NodeFileUses>) => {
  let text: string | undefined
  let sets = NO_SETS
  let starts: ReadonlyMap<bigint, bigint> = new Map()
  let problem: string | null = null

  /** Null if it does not exist. */
  const readText = async (file: string, signal: AbortSignal): Promise<string | null> => {
    const { word: prefix } = await readPrefix(signal)
    return nodeFiles.read(await resolvePath(`${nodeDirectory}/${file}`, { prefix, files }), LIMITS.set.length)
  }

  return {
    sets: () => sets,
    /** The first round of each epoch that the node knows. */
    starts: () => starts,
    newestEpoch: (): bigint | null =>
      problem === null ? sets.reduce<bigint | null>((newest, { epoch }) => larger(newest, epoch), null) : null,
    /** Why the sets could not be read; null if they were. */
    problem: () => problem,
    read: async (signal: AbortSignal): Promise<void> => {
      try {
        const found = await readText(FILES.sets, signal)
        problem = found === null ? `${FILES.sets} was not found in the directory of the node (node.directory)` : null
        if (found !== null && found !== text) {
          sets = parseValidatorSets(found)
          text = found
        }
        const forkpoint = await readText(FILES.starts, signal)
        starts = forkpoint === null ? new Map() : parseEpochStarts(forkpoint)
      } catch (error) {
        // A host on which the agent may not read these files is not a failing collector.
        if (!(error instanceof SourceError || error instanceof ParseError)) throw error
        problem = error.summary
      }
    },
  }
}

const whyUnproved = (predictions: ReturnType<typeof createPredictions>): string | null => {
  if (predictions.isProved()) return null
  const agreed = `${predictions.agreed()} of ${PROOF_ROUNDS} rounds have agreed`
  const at = predictions.disagreedAt()
  return at === null
    ? `the leader schedule is not proved yet: ${agreed}`
    : `the leader schedule is not proved: round ${at} had another leader than predicted, and ${agreed} since`
}

/** Rounds that this node leads, from the leader schedule that the ledger stream proves. */
export const schedule = (uses: ScheduleUses): Collector<Reading> => {
  const { roundFeed, ownKey, recorder, epochs, published, roundLog, checkpoints, timing } = uses
  const predictions = createPredictions(() => recorder.count('chain_schedule_misses_total', 1))
  const own = createOwnRounds()
  const missed = createMissedRounds(roundLog, checkpoints.open(MISSED_ROUNDS))
  const setFiles = createSetFiles(uses)
  const pace = createRate(PACE)
  let used: readonly ValidatorSet[] | undefined
  let members: ReadonlyMap<bigint, number> = new Map()
  let readAt: number | undefined
  /** The epoch of the newest block when the files were read. */
  let readIn: bigint | undefined
  let last: {
    readonly round: bigint
    readonly epoch: bigint
    readonly seqNum: bigint
    readonly blockAt: number
  } | null = null

  const useSets = (): void => {
    const sets = setFiles.sets()
    if (used === sets) return
    used = sets
    predictions.setMembers(sets)
    own.restart()
    members = new Map(sets.map(({ epoch, members: all }) => [epoch, all.length]))
    if (sets.length > 0) recorder.count('chain_schedule_misses_total', 0)
  }

  const follow = (round: LedgerRound, now: number): void => {
    predictions.add(round)
    const { block } = round
    const key = ownKey.get()
    const isProved = predictions.isProved()
    const leaders = isProved && block && block.epoch !== null ? predictions.scheduleOf(block.epoch) : undefined
    const isOwn = (at: bigint): boolean => leaders?.leader(at) === key
    if (key !== null && !round.isOld) missed.add(round, { ownKey: key, now, isOwn })
    if (!block || block.epoch === null) return
    const { epoch, blockAt, seqNum } = block
    if (last && round.round <= last.round) return
    last = { round: round.round, epoch, seqNum, blockAt }
    pace.add({ at: blockAt, value: Number(round.round) })
  }

  /** The last round whose set of validators is known: the next epoch does not start before. */
  const horizon = (at: NonNullable<typeof last>): bigint => {
    const start = setFiles.starts().get(at.epoch + 1n)
    if (start !== undefined && start > at.round) return start - 1n
    const length = epochs.get(chainIdOf(createSampleIndex(published())) ?? '')
    const position = length && epochPosition({ height: Number(at.seqNum), epoch: Number(at.epoch) }, length)
    if (!length || position?.phase !== 'before boundary') return at.round
    // A block takes one round or more.
    return at.round + BigInt(position.blocksLeft + length.delayRounds)
  }

  const whyNoSet = (): string | null =>
    setFiles.problem() ?? (last && `${FILES.sets} has no set of epoch ${last.epoch}`)

  const evaluate = async ({ clock, signal }: Context): Promise<Reading> => {
    const isDue = readAt === undefined || clock.elapsed() - readAt >= READ_EVERY_MS
    const rounds = roundFeed.take()
    const newest = rounds.findLast(({ block }) => block?.epoch)?.block?.epoch ?? last?.epoch
    if (isDue || newest !== readIn) {
      readAt = clock.elapsed()
      readIn = newest
      await setFiles.read(signal)
    }
    useSets()
    for (const [index, round] of rounds.entries()) {
      follow(round, clock.now())
      if (index % SLICE === SLICE - 1) await nextTurn()
    }
    const key = ownKey.get()
    missed.evaluate(createSampleIndex(published()), key, clock.now())
    const known = last && predictions.scheduleOf(last.epoch)
    const roundsPerMs = pace.read()
    const base = {
      problem: known ? whyUnproved(predictions) : whyNoSet(),
      epoch: last?.epoch ?? null,
      members: (last && members.get(last.epoch)) ?? null,
      agreed: known ? predictions.agreed() : null,
      isProved: known ? predictions.isProved() : null,
      disagreedAt: known ? predictions.disagreedAt() : null,
      round: last?.round ?? null,
      fileEpoch: setFiles.newestEpoch(),
      missed: missed.all().slice(-MAX_MISSED),
    }
    const none = { until: null, own: null, nextHour: null, ahead: null }
    if (!last || !known || !predictions.isProved()) return { ...base, ...none }
    if (key === null) return { ...base, ...none, problem: 'the public key of this node is not known (node.publicKey)' }
    if (!roundsPerMs) return { ...base, ...none, problem: 'the pace of the rounds is not known yet' }
    const current = last
    const timeOf = (round: bigint): number => Math.round(current.blockAt + Number(round - current.round) / roundsPerMs)
    const until = await own.extend(current.round + 1n, horizon(current), (round) => known.leader(round) === key)
    const slots = own.ahead().map((round) => ({ round, slotAt: timeOf(round) }))
    const hourEnd = clock.now() + hour
    return {
      ...base,
      until: { round: until, slotAt: timeOf(until) },
      own: slots.slice(0, MAX_SLOTS),
      nextHour: timeOf(until) < hourEnd ? null : slots.filter(({ slotAt }) => slotAt <= hourEnd).length,
      ahead: slots.length,
    }
  }

  return {
    ...metadataOf(definition, timing),
    run: async (context, report) => {
      await missed.restore()
      await poll(timing, evaluate)(context, report)
    },
    samples: samplesOf,
    states: ({ problem, isProved, disagreedAt }) => ({
      schedule:
        isProved === null
          ? (problem ?? 'unknown: no blocks')
          : isProved
            ? 'proved'
            : disagreedAt === null
              ? 'not proved yet'
              : 'not proved: a round had another leader than predicted',
    }),
  }
}

const samplesOf = ({ isProved, own, nextHour, ahead, fileEpoch }: Reading): readonly Sample[] => {
  const [next] = own ?? []
  return [
    ...sampleIfKnown('chain_schedule_file_epoch', fileEpoch),
    ...sampleIfKnown('chain_schedule_proved', isProved),
    ...sampleIfKnown('chain_schedule_next_own_round', next?.round),
    ...sampleIfKnown('chain_schedule_next_own_timestamp_seconds', inSeconds(next?.slotAt)),
    ...sampleIfKnown('chain_schedule_own_rounds_ahead', ahead),
    ...sampleIfKnown('chain_schedule_own_rounds_next_hour', nextHour),
  ]
}
