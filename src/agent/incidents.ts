import pLimit from 'p-limit'
import { type Clock, waitForAbort } from '../core/clock.ts'
import { asError, excerpt } from '../core/errors.ts'
import { minute, second } from '../core/units.ts'
import type { Health, RuleFinding } from '../parsers/agent-status.ts'
import { type Incident, type IncidentAlert, parseIncident } from '../parsers/incident.ts'
import {
  incidentId,
  listIncidents,
  MAX_INCIDENTS,
  readIncidentFile,
  writeIncidentFile,
} from '../sources/incident-files.ts'
import type { Exec } from '../sources/exec.ts'
import { createIncident, describeAlert, type Evidence, readRange } from './incident-evidence.ts'
import { alertKey, createIncidentTracker } from './incident-tracker.ts'

interface IncidentsOptions {
  readonly directory: string
  readonly clock: Clock
  readonly exec: Exec
  /** Called when an incident begins, with the names of its alerts. */
  readonly announce: (id: string, alerts: readonly string[]) => void
  readonly complain: (error: Error) => void
}

/** What an incident is made of, when its alerts fire. */
interface IncidentSources {
  readonly evidence: () => Evidence
  readonly units: () => readonly string[]
}

export type Incidents = ReturnType<typeof createIncidents>

const MAX_ALERTS = 50
/** The newest files that are read at a start: with more, a directory that other programs write delays it. */
const MAX_EXAMINED = 5 * MAX_INCIDENTS
/** Collecting the evidence takes seconds: what cannot be written is not collected at each evaluation. */
const RETRY = minute
/** journald has stored a line within this time. */
const JOURNAL_DELAY = 2 * second

/** The incidents in the directory: one reader or writer at a time. */
const createStore = (directory: string) => {
  let stored: ReadonlySet<string> = new Set()
  const inTurn = pLimit(1)
  const read = async (id: string): Promise<Incident> => {
    const incident = parseIncident(await readIncidentFile(directory, id))
    // It is written to the file of its own id.
    if (incident.id !== id) throw new Error(`${id}.json in ${directory} is the incident ${excerpt(incident.id)}`)
    return incident
  }
  const write = async (incident: Incident): Promise<void> => {
    stored = new Set(await writeIncidentFile(directory, { id: incident.id, text: JSON.stringify(incident) }, stored))
  }
  return {
    has: (id: string): boolean => stored.has(id),
    read: (id: string): Promise<Incident> => inTurn(() => read(id)),
    create: (make: () => Promise<Incident>): Promise<void> => inTurn(async () => write(await make())),
    /** Does nothing for one that could not be written, or that newer ones have replaced. */
    update: (id: string, change: (incident: Incident) => Incident): Promise<void> =>
      inTurn(async () => {
        if (stored.has(id)) await write(change(await read(id)))
      }),
    /** What an earlier agent has left, oldest first, by the names of the files. Files that are none are ignored, and reported once. */
    restore: async (
      report: (error: Error) => void,
    ): Promise<readonly (readonly [id: string, incident: Incident])[]> => {
      const found: [string, Incident][] = []
      const errors: Error[] = []
      for (const { id } of (await listIncidents(directory)).toReversed().slice(0, MAX_EXAMINED)) {
        if (found.length === MAX_INCIDENTS) break
        try {
          found.push([id, await read(id)])
        } catch (error) {
          errors.push(asError(error))
        }
      }
      const [first] = errors
      if (first) report(errors.length === 1 ? first : unreadable(directory, errors.length, first))
      stored = new Set(found.map(([id]) => id))
      return found.toReversed()
    },
  }
}

const unreadable = (directory: string, count: number, first: Error): Error =>
  new Error(`${count} files in ${directory} cannot be read as incidents; the first: ${first.message}`, { cause: first })

interface Running extends IncidentSources {
  readonly signal: AbortSignal
  readonly tracker: ReturnType<typeof createIncidentTracker>
}

/** Keeps the evidence when a critical alert fires. */
export const createIncidents = (options: IncidentsOptions) => {
  const { directory, clock, exec, announce, complain } = options
  const store = createStore(directory)
  /** When the last incident that began could not be written: reported once, and tried again some time later. */
  let unwritableAt: number | undefined
  let running: Running | undefined
  const tasks = new Set<Promise<void>>()

  const start = (work: () => Promise<void>): void => {
    const task = work()
      .catch((error: unknown) => {
        complain(asError(error))
      })
      .finally(() => tasks.delete(task))
    tasks.add(task)
  }

  /** Reads the journals that are still to be read, each when its time has passed. */
  const complete = async (id: string, { signal, units }: Running): Promise<void> => {
    const { journals: ranges } = await store.read(id)
    for (const [index, range] of ranges.entries()) {
      if (range.units !== null) continue
      // The clock of the host may be set in the meantime.
      const wait = Math.min(minute, Date.parse(range.toAt) + JOURNAL_DELAY - clock.now())
      if (wait > 0) await clock.sleep(wait, signal)
      const current = await store.read(id)
      if (signal.aborted) return
      const logs = await readRange({ exec, clock, signal, units: units() }, range, current)
      if (signal.aborted) return
      await store.update(id, (incident) => {
        const journals = incident.journals.with(index, { ...range, units: logs })
        const isComplete = journals.every((one) => one.units !== null)
        return { ...incident, journals, completedAt: isComplete ? isoTime(clock.now()) : null }
      })
    }
  }

  const begin = (at: number, alerts: readonly IncidentAlert[], current: Running): string => {
    let id = incidentId(at)
    // The clock of the host may have been set back.
    for (let later = at; store.has(id); id = incidentId(later)) later += second
    start(async () => {
      const given = current.evidence()
      try {
        await store.create(() => createIncident(given, { id, firedAt: isoTime(at), alerts }))
      } catch (error) {
        current.tracker.forget(id)
        const isReported = unwritableAt !== undefined
        unwritableAt = at
        if (isReported) return
        throw error
      }
      unwritableAt = undefined
      announce(id, [...new Set(alerts.map(({ alert }) => alert))])
      await complete(id, current)
    })
    return id
  }

  const addAlerts = (id: string, fresh: readonly IncidentAlert[]): void => {
    start(() =>
      store.update(id, (incident) => {
        const known = new Map(incident.alerts.map((alert) => [alertKey(alert), alert]))
        for (const alert of fresh) {
          const before = known.get(alertKey(alert))
          if (before) known.set(alertKey(alert), { ...before, endedAt: null })
          else if (known.size < MAX_ALERTS) known.set(alertKey(alert), alert)
        }
        return { ...incident, alerts: [...known.values()] }
      }),
    )
  }

  const endAlerts = (id: string, keys: ReadonlySet<string>, at: number): void => {
    const ended = (alert: IncidentAlert) => (keys.has(alertKey(alert)) ? { ...alert, endedAt: isoTime(at) } : alert)
    start(() => store.update(id, (incident) => ({ ...incident, alerts: incident.alerts.map(ended) })))
  }

  return {
    /** Compares the alerts that fire with those before. Never throws, and does not wait. */
    observe: (at: number, { findings }: Pick<Health, 'findings'>): void => {
      if (!running || running.signal.aborted) return
      const { tracker } = running
      const { ended, fresh } = tracker.observe(at, findings)
      for (const [id, keys] of ended) endAlerts(id, keys, at)
      if (fresh.length === 0 || (unwritableAt !== undefined && Math.abs(at - unwritableAt) < RETRY)) return
      const alerts = fresh.map((finding) => describeAlert(finding, at))
      const joined = tracker.joinedAt(at)
      if (joined !== undefined) addAlerts(joined, alerts)
      tracker.add(joined ?? begin(at, alerts, running), at, fresh)
    },
    /** The stored incident of a firing alert. */
    idOf: (finding: RuleFinding): string | undefined => {
      const id = running?.tracker.idOf(finding)
      return id !== undefined && store.has(id) ? id : undefined
    },
    /** Reads what an earlier agent has left, and runs until the signal aborts. */
    run: async (signal: AbortSignal, sources: IncidentSources): Promise<void> => {
      const tracker = createIncidentTracker(clock.now())
      const found = await store.restore(complain).catch((error: unknown) => {
        complain(asError(error))
        return []
      })
      for (const [id, incident] of found) {
        const ended = tracker.restore(id, incident)
        // It is not known how long they fired after that.
        const known = incident.alerts.map(({ firedAt, endedAt }) => Date.parse(endedAt ?? firedAt))
        if (ended.length > 0) endAlerts(id, new Set(ended), Math.max(...known))
      }
      const current = { ...sources, signal, tracker }
      running = current
      const incomplete = found.filter(([, { completedAt }]) => completedAt === null)
      start(async () => {
        for (const [id] of incomplete)
          await complete(id, current).catch((error: unknown) => {
            complain(asError(error))
          })
      })
      await waitForAbort(signal)
      await Promise.all(tasks)
    },
  }
}

const isoTime = (at: number): string => new Date(at).toISOString()
