import { lifecycleEntry, lifecycleMatch } from '../../collectors/lifecycle/restarts.ts'
import { createUnitNames } from '../../collectors/shared/node-state.ts'
import { parseSloHours, sumOfHours } from '../../collectors/slo/hours.ts'
import type { Readings } from '../../collectors/index.ts'
import { databaseUsedRatio } from '../../domain/agreement.ts'
import { type Event, isAtLeast } from '../../domain/event.ts'
import { day, hour, second } from '../../core/units.ts'
import { lowestFreeRatio } from '../../health/facts.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { parseJournalEntry } from '../../parsers/journal.ts'
import { createReadOnlyCheckpoints } from '../../sources/checkpoint.ts'
import { createJournalRangeReader } from '../../sources/journal-range.ts'
import { createOldestEntryReader } from '../../sources/journal.ts'
import { asKnown, asUnknown, attempt, type DutiesOptions, readDuties } from '../duties/action.ts'
import { type Events, readEvents } from '../events/events.ts'
import { recordedFirings } from '../events/firings.ts'
import { incidentsOf } from '../replay/firings.ts'
import { withHost } from '../shared/with-host.ts'

export type Report = Awaited<ReturnType<typeof readReport>>
type Value<Part extends 'availability' | 'restarts' | 'incidents' | 'rewards'> = NonNullable<Report[Part]['value']>
export type Availability = Value<'availability'>
export type Restarts = Value<'restarts'>
export type Incidents = Value<'incidents'>
export type Rewards = Value<'rewards'>

type EpochRewards = NonNullable<Readings['staking']>['rewards']

/** What is known of the interval from the journal and from what the agent has saved. */
export const readReport = async (options: DutiesOptions, snapshot: NodeSnapshot) => {
  const { clock, since } = options
  const to = clock.now()
  const duties = await attempt(() => readDuties(options))
  const events = await attempt(() => readEvents({ ...options, since: undefined }))
  return {
    from: since,
    to,
    availability: await readAvailability(options),
    duties,
    restarts: await attempt(() => readRestarts(options, to)),
    incidents: events.value === null ? events : asKnown(incidentsIn(events.value, since)),
    disk: diskOf(snapshot),
    versions: versionsOf(snapshot, events.value?.events.filter(({ at }) => at >= since) ?? null),
    rewards: rewardsIn(snapshot.readings.staking?.rewards, since),
  }
}

/** The time with a fresh block, as the agent has saved it by the hour. Times are in milliseconds. */
const readAvailability = async ({ config, since }: DutiesOptions) => {
  const { directory } = config.state
  const found = await createReadOnlyCheckpoints(directory).open('slo').read()
  if (found.state === 'unreadable')
    return asUnknown(`slo.json in ${directory} cannot be read: use sudo, or the user of the agent`)
  const hours = parseSloHours(found.value)
  const fromAt = since - (since % hour)
  const { known, fresh } = sumOfHours(hours, fromAt)
  const first = hours.find(({ from }) => from >= fromAt)
  if (first === undefined || known === 0)
    return asUnknown(hours.length === 0 ? NOTHING_YET : 'nothing is recorded of this time')
  // A new installation has recorded fewer hours than the interval.
  return asKnown({ fromAt, recordedFrom: first.from, objective: config.health.objective, known, fresh })
}

const NOTHING_YET = 'nothing is recorded yet; the running agent records it every five minutes'

/** Starts and exits of the services, from the entries of systemd. */
const readRestarts = (options: DutiesOptions, until: number) =>
  withHost(options, async (exec, readPrefix) => {
    const { config, signal, since } = options
    const journal = { exec, parse: parseJournalEntry }
    const names = await createUnitNames(readPrefix).all(config.services.units, signal)
    const services = new Map([...names].map(([service, unit]) => [unit, service]))
    const oldest = await createOldestEntryReader(journal)(['_PID=1'], signal)
    /** `at`: when it started or exited. `result`: of an exit, as systemd reports it; null for a start. */
    const runs: { readonly service: string; readonly at: number; readonly result: string | null }[] = []
    const counted = new Set<string>()
    const range = { match: lifecycleMatch(services.keys()), since, until }
    for await (const { entries } of createJournalRangeReader(journal)(range, signal)) {
      for (const { at, fields } of entries) {
        const entry = lifecycleEntry(fields)
        const service = services.get(entry?.unit ?? '')
        if (!entry || service === undefined) continue
        const id = `${entry.invocation} ${entry.result === null ? 'start' : 'exit'}`
        if (!counted.has(id)) runs.push({ service, at, result: entry.result })
        counted.add(id)
      }
    }
    // The journal has entries from then on.
    return { fromAt: Math.max(since, oldest.at), runs }
  })

/** The alerts of at least a warning that the agent has recorded, as incidents. */
export const incidentsIn = ({ events, oldestAt }: Pick<Events, 'events' | 'oldestAt'>, since: number) => {
  const firings = recordedFirings(events).filter(
    ({ severity, endedAt }) => isAtLeast(severity, 'warning') && (endedAt === null || endedAt >= since),
  )
  return { fromAt: oldestAt, incidents: incidentsOf(firings) }
}

export const diskOf = ({ known }: Pick<NodeSnapshot, 'known'>) => {
  const untilCompaction = known.value('chain_storage_compaction_eta_seconds')
  return {
    databaseUsedRatio: databaseUsedRatio(known) ?? null,
    /** Until the database is compacted, at its growth of the last two days. */
    databaseDaysLeft: untilCompaction === undefined ? null : (untilCompaction * second) / day,
    /** The free part of the fullest file system. */
    filesystemFreeRatio: lowestFreeRatio(known) ?? null,
  }
}

const versionsOf = ({ readings: { version } }: NodeSnapshot, events: readonly Event[] | null) => ({
  installed: version?.installed ?? null,
  running: version?.running ?? [],
  /** Changes in the interval; null if no events could be read. */
  changes:
    events?.flatMap(({ at, collector, subject, from, to }) =>
      collector === 'version' && from !== null && /^(?:installed|running) version$/.test(subject ?? '')
        ? [{ at, subject, from, to }]
        : [],
    ) ?? null,
})

/** The sum of the epochs that the agent measured completely or in part within the interval. */
export const rewardsIn = (all: EpochRewards | undefined, since: number) => {
  if (all === undefined) return asUnknown('the collector staking has no reading')
  const measured = all.flatMap(({ epoch, pool, commission, toAt }) =>
    epoch === null || pool === null || toAt === null || toAt < since ? [] : [{ epoch, pool, commission }],
  )
  const [first] = measured
  const last = measured.at(-1)
  if (!first || !last) return asUnknown('the agent has measured none in the interval')
  return asKnown({
    firstEpoch: first.epoch,
    lastEpoch: last.epoch,
    /** In wei. */
    pool: measured.reduce((sum, { pool }) => sum + pool, 0n),
    /** Null at a commission of 100 %, at which it cannot be computed. */
    commission: measured.reduce<bigint | null>(
      (sum, { commission }) => (sum === null || commission === null ? null : sum + commission),
      0n,
    ),
  })
}
