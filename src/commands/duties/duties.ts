import { FILES } from '../../collectors/schedule/collector.ts'
import { type ClassifiedRound, MISSED_ROUNDS, parseMissedRounds } from '../../collectors/schedule/missed-rounds.ts'
import type { Readings } from '../../collectors/index.ts'
import type { Config } from '../../config/schema.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import type { Event } from '../../domain/event.ts'
import type { MissedRoundCause } from '../../domain/missed-round.ts'
import { resolvePath } from '../../domain/key-paths.ts'
import { LIMITS } from '../../core/limits.ts'
import { hour, minute, second } from '../../core/units.ts'
import { parseValidatorSets, type ValidatorSet } from '../../parsers/validators.ts'
import { createReadOnlyCheckpoints } from '../../sources/checkpoint.ts'
import { createExec, createExecWithTimeouts } from '../../sources/exec.ts'
import { createFileTree } from '../../sources/file-tree.ts'
import type { Recording } from '../../sources/journal-range.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { createPrefix } from '../../sources/prefix.ts'
import type { SourceContext } from '../../terminal/io.ts'
import { type Events, readEvents } from '../events/events.ts'
import { readLedger } from '../ledger/ledger.ts'
import { fetchSnapshot } from '../shared/agent-snapshot.ts'
import { findOwnKey } from '../shared/own-key.ts'
import { createRoundHistory, type MissedRound, type RoundGap, type RoundHistory } from './rounds.ts'

export interface DutiesOptions extends SourceContext {
  readonly config: Config
  /** Milliseconds since the epoch. */
  readonly since: number
  /** Replaces the journal. */
  readonly recording?: (() => Recording) | undefined
  readonly onProgress?: (blocks: number) => void
}

type Staking = NonNullable<Readings['staking']>

/** What was read, or why it could not be read. */
export type Known<T> = { readonly value: T; readonly unknownBecause: null } | Unknown
interface Unknown {
  readonly value: null
  readonly unknownBecause: string
}

/** What the agent recorded around that time; null if it has no record of it. */
interface Recorded {
  readonly recorded: readonly string[] | null
}

/** A missed round, and the class that the agent gave it; null if it has saved none. */
type ExplainedRound = MissedRound & Recorded & { readonly cause: MissedRoundCause | null }

export interface Duties extends Omit<RoundHistory, 'missed' | 'gaps'> {
  readonly from: number
  readonly to: number
  /** The own key; null if it is not known. */
  readonly key: string | null
  readonly missed: readonly ExplainedRound[]
  /** Times of which the stream has no rounds. */
  readonly gaps: readonly (RoundGap & Recorded)[]
  /** From then on the stream has no rounds, in milliseconds since the epoch; null if it reaches the present. */
  readonly unknownSinceAt: number | null
  /** Lines of the stream that could not be parsed. */
  readonly unparsed: number
  readonly rewards: Known<Staking['rewards']>
  /** Why no leader schedule is used; null if there is one. */
  readonly scheduleProblem: string | null
  /** The agent has stored events from then on, in milliseconds since the epoch. */
  readonly recordedFromAt: number | null
  /** Why nothing is known of what the agent recorded; null if it is. */
  readonly eventsProblem: string | null
}

/** The own rounds of an interval, from the ledger stream in the journal. Throws a SourceError if it cannot be read. */
export const readDuties = async (options: DutiesOptions): Promise<Duties> => {
  const { clock, since, recording, onProgress = () => undefined } = options
  const to = clock.now()
  const key = await findOwnKey(options)
  const sets = await attempt(() => readSets(options))
  const history = createRoundHistory(key, sets.value ?? [])
  let unparsed = 0
  for await (const { rows, summary } of readLedger({ ...options, ownKey: key }, { since, until: to, recording })) {
    for (const row of rows) history.add(row)
    unparsed = summary.unparsed
    onProgress(summary.blocks)
  }
  const { missed, gaps, ...rounds } = history.read()
  const isRecording = recording !== undefined
  const events = isRecording ? OF_RECORDING : await attempt(() => readEvents(withoutSince(options)))
  const classified = isRecording ? NONE : await readClassified(options)
  const recordedAt = (at: number) => ({ recorded: events.value && recordedAround(events.value, at) })
  return {
    ...rounds,
    from: since,
    to,
    unknownSinceAt: isRecording ? null : unknownSince(rounds.covered, to),
    key,
    missed: missed.map((round) => ({ ...round, ...recordedAt(round.at), cause: causeOf(round, classified) })),
    gaps: gaps.map((gap) => ({ ...gap, ...recordedAt(gap.fromAt) })),
    unparsed,
    rewards: isRecording ? OF_RECORDING : await attempt(() => readRewards(options)),
    scheduleProblem: sets.unknownBecause,
    recordedFromAt: events.value?.oldestAt ?? null,
    eventsProblem: events.unknownBecause,
  }
}

/** A stream that is read has a block every third of a second. */
const SILENT_MS = 10 * second

const unknownSince = (covered: RoundHistory['covered'], to: number): number | null =>
  covered !== null && to - covered.toAt > SILENT_MS ? covered.toAt : null

/** It may be of another host. */
const OF_RECORDING: Unknown = { value: null, unknownBecause: 'a recording does not contain them' }

const NONE: ReadonlyMap<bigint, ClassifiedRound> = new Map()

/** The classes that the running agent has saved. */
const readClassified = async ({ config }: DutiesOptions): Promise<ReadonlyMap<bigint, ClassifiedRound>> => {
  const found = await createReadOnlyCheckpoints(config.state.directory).open(MISSED_ROUNDS).read()
  const all = found.state === 'saved' ? parseMissedRounds(found.value) : []
  return new Map(all.map((one) => [one.round, one]))
}

/** A network that was reset has the same rounds again. */
const SAME_ROUND_MS = hour

const causeOf = ({ round, at }: MissedRound, classified: typeof NONE): MissedRoundCause | null => {
  const found = classified.get(round)
  if (!found || Math.abs(found.at - at) > SAME_ROUND_MS) return null
  return { class: found.class, figures: found.figures }
}

/** Alerts may have begun to fire before the interval. */
export const withoutSince = ({ since: _since, ...options }: DutiesOptions) => options

/** A source that cannot be read makes a part of the result unknown. */
export const attempt = async <T>(read: () => Promise<T>): Promise<Known<T>> => {
  try {
    return { value: await read(), unknownBecause: null }
  } catch (error) {
    if (error instanceof SourceError || error instanceof ParseError)
      return { value: null, unknownBecause: error.summary }
    throw error
  }
}

/** The sets of validators that the node has in a file. */
const readSets = async ({
  config,
  clock,
  path,
  signal,
  ...overrides
}: DutiesOptions): Promise<readonly ValidatorSet[]> => {
  const exec = createExecWithTimeouts(overrides.exec ?? createExec({ clock, path }), clock)
  try {
    const { word: prefix } = await createPrefix({ exec, path, configured: config.prefix })(signal)
    const file = await resolvePath(`${config.node.directory}/${FILES.sets}`, { prefix, files: keyFiles })
    const text = await createFileTree('/').read(file, LIMITS.set.length)
    if (text !== null) return parseValidatorSets(text)
    throw new SourceError({ doing: `read ${FILES.sets}`, happened: 'it was not found in node.directory' })
  } finally {
    if (!overrides.exec) exec.killAll()
  }
}

const readRewards = async (options: DutiesOptions): Promise<Staking['rewards']> => {
  const doing = 'read the rewards'
  const snapshot = await fetchSnapshot(options)
  if (!snapshot) throw new SourceError({ doing, happened: 'the agent, which measures them, is not running' })
  const { staking } = snapshot.readings
  if (staking) return staking.rewards
  throw new SourceError({ doing, happened: 'the collector staking has no reading' })
}

/** An alert begins to fire up to minutes after its cause, and may end before it is noticed. */
const BEFORE_MS = minute
const AFTER_MS = 5 * minute
/** State changes that explain a missed round. */
const CHANGES = new Set(['services', 'maintenance', 'agent'])
const MAX_RECORDED = 6

/** Alerts that fired around a time, and state changes within a minute of it. Null for a time before the first event. */
export const recordedAround = ({ events, oldestAt }: Pick<Events, 'events' | 'oldestAt'>, at: number) => {
  if (oldestAt === null || at < oldestAt) return null
  const firing = new Map<string, number>()
  const texts = new Set<string>()
  for (const event of events) {
    if (event.at > at + AFTER_MS) break
    if (event.collector === 'alerts') {
      const alert = event.subject ?? ''
      if (isFiring(event)) firing.set(alert, event.at)
      else {
        if (firing.has(alert) && event.at >= at - BEFORE_MS) texts.add(alert)
        firing.delete(alert)
      }
    } else if (event.collector === 'agent' && event.to !== 'stopped') {
      // After a restart, an alert that still holds is listed again.
      for (const [alert, since] of firing) if (since >= at - BEFORE_MS) texts.add(alert)
      firing.clear()
    }
    if (CHANGES.has(event.collector) && Math.abs(event.at - at) <= BEFORE_MS && event.from !== null) {
      texts.add(`${event.subject ?? event.collector}: ${event.from} \u2192 ${event.to}`)
    }
  }
  return [...new Set([...firing.keys(), ...texts])].slice(0, MAX_RECORDED)
}

/** The agent records `critical: SUMMARY` for an alert that fires. */
export const isFiring = ({ to }: Pick<Event, 'to'>): boolean => /^(?:critical|warning|info): /.test(to)
