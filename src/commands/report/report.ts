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
import { createExec, createExecWithTimeouts } from '../../sources/exec.ts'
import { createJournalRangeReader } from '../../sources/journal-range.ts'
import { createOldestEntryReader } from '../../sources/journal.ts'
import { createPrefix } from '../../sources/prefix.ts'
import {
  attempt,
  type Duties,
  type DutiesOptions,
  isFiring,
  type Known,
  readDuties,
  withoutSince,
} from '../duties/duties.ts'
import { type Events, readEvents } from '../events/events.ts'
import { type Incident, incidentsOf, type Firing, rank } from '../replay/firings.ts'

/** The time with a fresh block, as the agent has saved it by the hour. Times are in milliseconds. */
export interface Availability {
  /** The hours begin there, in milliseconds since the epoch. */
  readonly fromAt: number
  /** The first hour that was recorded: a new installation has fewer than the interval. */
  readonly recordedFrom: number
  readonly objective: number
  readonly known: number
  readonly fresh: number
}

interface Restart {
  readonly service: string
  /** When it started or exited, in milliseconds since the epoch. */
  readonly at: number
  /** The result of an exit, as systemd reports it; null for a start. */
  readonly result: string | null
}

export interface Restarts {
  /** The journal has entries from then on, in milliseconds since the epoch. */
  readonly fromAt: number
  readonly runs: readonly Restart[]
}

export interface Incidents {
  /** The agent has stored events from then on, in milliseconds since the epoch. */
  readonly fromAt: number | null
  readonly incidents: readonly Incident[]
}

export interface Report {
  readonly from: number
  readonly to: number
  readonly availability: Known<Availability>
  readonly duties: Known<Duties>
  readonly restarts: Known<Restarts>
  readonly incidents: Known<Incidents>
  readonly disk: ReturnType<typeof diskOf>
  readonly versions: ReturnType<typeof versionsOf>
  readonly rewards: Known<Rewards>
}

export interface Rewards {
  /** Their epochs: those that the agent measured in the interval. */
  readonly firstEpoch: bigint
  readonly lastEpoch: bigint
  /** In wei. */
  readonly pool: bigint
  /** Null at a commission of 100 %, at which it cannot be computed. */
  readonly commission: bigint | null
}

type EpochRewards = NonNullable<Readings['staking']>['rewards']

/** What is known of the interval from the journal and from what the agent has saved. */
export const readReport = async (options: DutiesOptions, snapshot: NodeSnapshot): Promise<Report> => {
  const { clock, since } = options
  const to = clock.now()
  const duties = await attempt(() => readDuties(options))
  const events = await attempt(() => readEvents(withoutSince(options)))
  return {
    from: since,
    to,
    availability: await readAvailability(options),
    duties,
    restarts: await attempt(() => readRestarts(options, to)),
    incidents: events.value === null ? events : { value: incidentsIn(events.value, since), unknownBecause: null },
    disk: diskOf(snapshot),
    versions: versionsOf(snapshot, events.value?.events.filter(({ at }) => at >= since) ?? null),
    rewards: rewardsIn(snapshot.readings.staking?.rewards, since),
  }
}

const readAvailability = async ({ config, since }: DutiesOptions): Promise<Known<Availability>> => {
  const { directory } = config.state
  const found = await createReadOnlyCheckpoints(directory).open('slo').read()
  if (found.state === 'unreadable')
    return {
      value: null,
      unknownBecause: `slo.json in ${directory} cannot be read: use sudo, or the user of the agent`,
    }
  const hours = found.state === 'saved' ? parseSloHours(found.value) : []
  const fromAt = since - (since % hour)
  const { known, fresh } = sumOfHours(hours, fromAt)
  const first = hours.find(({ from }) => from >= fromAt)
  if (first === undefined || known === 0)
    return { value: null, unknownBecause: hours.length === 0 ? NOTHING_YET : 'nothing is recorded of this time' }
  return {
    value: { fromAt, recordedFrom: first.from, objective: config.health.objective, known, fresh },
    unknownBecause: null,
  }
}

const NOTHING_YET = 'nothing is recorded yet; the running agent records it every five minutes'

/** Starts and exits of the services, from the entries of systemd. */
const readRestarts = async (options: DutiesOptions, until: number): Promise<Restarts> => {
  const { config, clock, path, signal, since } = options
  const exec = createExecWithTimeouts(options.exec ?? createExec({ clock, path }), clock)
  const journal = { exec, parse: parseJournalEntry }
  try {
    const units = createUnitNames(createPrefix({ exec, path, configured: config.prefix }))
    const names = await units.all(config.services.units, signal)
    const services = new Map([...names].map(([service, unit]) => [unit, service]))
    const oldest = await createOldestEntryReader(journal)(['_PID=1'], signal)
    const runs: Restart[] = []
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
    return { fromAt: Math.max(since, oldest.at), runs }
  } finally {
    if (!options.exec) exec.killAll()
  }
}

/** After a restart of the agent, an alert that fires again within this time is the same one. */
const RESUMED_MS = hour

/** The alerts of at least a warning that the agent has recorded, as incidents. */
export const incidentsIn = ({ events, oldestAt }: Pick<Events, 'events' | 'oldestAt'>, since: number): Incidents => {
  const open = new Map<string, Firing>()
  const interrupted = new Map<string, Firing>()
  const ended: Firing[] = []
  for (const event of events) {
    const { collector, subject, at } = event
    if (collector === 'agent' && event.to !== 'stopped') {
      for (const [key, firing] of open) interrupted.set(key, { ...firing, endedAt: at })
      open.clear()
    }
    if (collector !== 'alerts' || subject === null) continue
    const firing = open.get(subject)
    if (isFiring(event)) {
      const before = firing ?? resumed(interrupted, subject, at)
      if (isAtLeast(event.severity, 'warning')) open.set(subject, firingOf(event, subject, before))
    } else if (firing) {
      ended.push({ ...firing, endedAt: at })
      open.delete(subject)
    }
  }
  const all = [...ended, ...interrupted.values(), ...open.values()]
  const inInterval = all.filter(({ endedAt }) => endedAt === null || endedAt >= since)
  return { fromAt: oldestAt, incidents: incidentsOf(inInterval.toSorted((a, b) => a.beganAt - b.beganAt)) }
}

const resumed = (interrupted: Map<string, Firing>, subject: string, at: number): Firing | undefined => {
  const before = interrupted.get(subject)
  if (!before || at - (before.endedAt ?? at) > RESUMED_MS) return undefined
  interrupted.delete(subject)
  return before
}

const firingOf = ({ at, to, severity }: Event, subject: string, before: Firing | undefined): Firing => {
  const [alert = subject, ...labels] = subject.split(' ')
  const isWorse = before === undefined || rank(severity) <= rank(before.severity)
  return {
    alert,
    severity: isWorse ? severity : before.severity,
    subject: labels.join(' '),
    beganAt: before?.beganAt ?? at,
    firedAt: before?.firedAt ?? at,
    endedAt: null,
    summary: isWorse ? to.replace(/^\w+: /, '') : before.summary,
  }
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
export const rewardsIn = (all: EpochRewards | undefined, since: number): Known<Rewards> => {
  if (all === undefined) return { value: null, unknownBecause: 'the collector staking has no reading' }
  const measured = all.flatMap(({ epoch, pool, commission, toAt }) =>
    epoch === null || pool === null || toAt === null || toAt < since ? [] : [{ epoch, pool, commission }],
  )
  const [first] = measured
  const last = measured.at(-1)
  if (!first || !last) return { value: null, unknownBecause: 'the agent has measured none in the interval' }
  return {
    value: {
      firstEpoch: first.epoch,
      lastEpoch: last.epoch,
      pool: measured.reduce((sum, { pool }) => sum + pool, 0n),
      commission: measured.reduce<bigint | null>(
        (sum, { commission }) => (sum === null || commission === null ? null : sum + commission),
        0n,
      ),
    },
    unknownBecause: null,
  }
}
