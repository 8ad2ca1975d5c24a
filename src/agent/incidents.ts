import pLimit from 'p-limit'
import { type Clock, waitForAbort } from '../core/clock.ts'
import { asError, excerpt } from '../core/errors.ts'
import { minute, second } from '../core/units.ts'
import type { Health, RuleFinding } from '../domain/health.ts'
import { keyOf } from '../health/promql/series.ts'
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

interface IncidentsOptions {
  readonly directory: string
  readonly clock: Clock
  readonly exec: Exec
  readonly evidence: () => Evidence
  /** The units whose journals are read. */
  readonly units: () => readonly string[]
  /** Called when an incident begins, with the names of its alerts. */
  readonly announce: (id: string, alerts: readonly string[]) => void
  readonly complain: (error: Error) => void
}

/** Keeps the evidence when a critical alert fires. */
export interface Incidents {
  /** Compares the alerts that fire with those before. Never throws, and does not wait. */
  observe(at: number, health: Health): void
  /** The stored incident of a firing alert. */
  idOf(finding: RuleFinding): string | undefined
  /** Reads what an earlier agent has left, and runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

/** Alerts that fire within this time belong together: they have one cause, or one alert that comes and goes. */
const JOINED = 10 * minute
/** An alert that comes and goes for longer is another incident. */
const LONGEST = 60 * minute
const MAX_ALERTS = 50
/** The newest files that are read at a start: with more, a directory that other programs write delays it. */
const MAX_EXAMINED = 5 * MAX_INCIDENTS
/** Collecting the evidence takes seconds: what cannot be written is not collected at each evaluation. */
const RETRY = minute
/** journald has stored a line within this time. */
const JOURNAL_DELAY = 2 * second

const alertKey = ({ alert, labels }: Pick<RuleFinding, 'alert' | 'labels'>): string => `${alert} ${keyOf(labels)}`

export const createIncidents = (options: IncidentsOptions): Incidents => {
  const { directory, clock, exec, evidence, units, announce, complain } = options
  /** The incident of each alert that fires. */
  const firing = new Map<string, string>()
  /** Alerts of an earlier agent: it is not known yet whether their condition still holds. */
  const restored = new Set<string>()
  let stored: ReadonlySet<string> = new Set()
  /** The newest incident: when it began, and when its last alert fired. */
  let newest: { readonly id: string; readonly beganAt: number; readonly lastAt: number } | undefined
  /** When the last incident that began could not be written: reported once, and tried again some time later. */
  let unwritableAt: number | undefined
  let running: { readonly signal: AbortSignal; readonly startedAt: number } | undefined
  const inTurn = pLimit(1)
  const tasks = new Set<Promise<void>>()

  const report = (error: unknown): void => {
    complain(asError(error))
  }
  const start = (work: () => Promise<void>): void => {
    const task = work()
      .catch(report)
      .finally(() => tasks.delete(task))
    tasks.add(task)
  }

  const read = async (id: string): Promise<Incident> => {
    const incident = parseIncident(await readIncidentFile(directory, id))
    // It is written to the file of its own id.
    if (incident.id !== id) throw new Error(`${id}.json in ${directory} is the incident ${excerpt(incident.id)}`)
    return incident
  }
  const write = async (incident: Incident): Promise<void> => {
    stored = new Set(await writeIncidentFile(directory, { id: incident.id, text: JSON.stringify(incident) }, stored))
  }
  const update = (id: string, change: (incident: Incident) => Incident): Promise<void> =>
    inTurn(async () => {
      // It could not be written and is forgotten, or newer ones have replaced it.
      if (stored.has(id)) await write(change(await read(id)))
    })

  /** Reads the journals that are still to be read, each when its time has passed. */
  const complete = async (id: string, signal: AbortSignal): Promise<void> => {
    const { journals: ranges } = await inTurn(() => read(id))
    for (const [index, range] of ranges.entries()) {
      if (range.units !== null) continue
      // The clock of the host may be set in the meantime.
      const wait = Math.min(minute, Date.parse(range.toAt) + JOURNAL_DELAY - clock.now())
      if (wait > 0) await clock.sleep(wait, signal)
      const current = await inTurn(() => read(id))
      if (signal.aborted) return
      const logs = await readRange({ exec, clock, signal, units: units() }, range, current)
      if (signal.aborted) return
      await update(id, (incident) => {
        const journals = incident.journals.with(index, { ...range, units: logs })
        const isComplete = journals.every((one) => one.units !== null)
        return { ...incident, journals, completedAt: isComplete ? isoTime(clock.now()) : null }
      })
    }
  }

  /** Its alerts begin another incident at the next evaluation. */
  const forget = (id: string): void => {
    for (const [key, one] of firing) if (one === id) firing.delete(key)
    if (newest?.id === id) newest = undefined
  }

  const begin = (at: number, alerts: readonly IncidentAlert[], signal: AbortSignal): string => {
    let id = incidentId(at)
    // The clock of the host may have been set back.
    for (let later = at; stored.has(id); id = incidentId(later)) later += second
    start(async () => {
      const given = evidence()
      try {
        await inTurn(async () => write(await createIncident(given, { id, firedAt: isoTime(at), alerts })))
      } catch (error) {
        forget(id)
        const isReported = unwritableAt !== undefined
        unwritableAt = at
        if (isReported) return
        throw error
      }
      unwritableAt = undefined
      announce(id, [...new Set(alerts.map(({ alert }) => alert))])
      await complete(id, signal)
    })
    return id
  }

  const addAlerts = (id: string, fresh: readonly IncidentAlert[]): void => {
    start(() =>
      update(id, (incident) => {
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
    start(() =>
      update(id, (incident) => ({
        ...incident,
        alerts: incident.alerts.map((alert) =>
          keys.has(alertKey(alert)) ? { ...alert, endedAt: isoTime(at) } : alert,
        ),
      })),
    )
  }

  /** The stored incidents, oldest first, by the names of their files. Files that are none are ignored, and reported once. */
  const readStored = async (): Promise<readonly (readonly [id: string, incident: Incident])[]> => {
    const files = (await listIncidents(directory)).toReversed()
    const found: [string, Incident][] = []
    const errors: Error[] = []
    for (const { id } of files.slice(0, MAX_EXAMINED)) {
      if (found.length === MAX_INCIDENTS) break
      try {
        found.push([id, await read(id)])
      } catch (error) {
        errors.push(asError(error))
      }
    }
    const [first] = errors
    if (first) report(errors.length === 1 ? first : unreadable(directory, errors.length, first))
    return found.toReversed()
  }

  /** Returns the incidents whose journals are still to be read. */
  const restore = async (): Promise<readonly string[]> => {
    const incomplete: string[] = []
    const found = await readStored()
    stored = new Set(found.map(([id]) => id))
    for (const [id, incident] of found) {
      if (incident.completedAt === null) incomplete.push(id)
      const [beganAt, ...later] = [incident.firedAt, ...incident.alerts.map(({ firedAt }) => firedAt)].map(timeOf)
      newest = { id, beganAt: beganAt ?? 0, lastAt: Math.max(...later) }
      const unended = incident.alerts.filter(({ endedAt }) => endedAt === null).map(alertKey)
      if (Math.abs(clock.now() - newest.beganAt) < LONGEST) {
        for (const key of unended) {
          firing.set(key, id)
          restored.add(key)
        }
      } else if (unended.length > 0) {
        // It is not known how long they fired after that.
        const known = incident.alerts.map(({ firedAt, endedAt }) => timeOf(endedAt ?? firedAt))
        endAlerts(id, new Set(unended), Math.max(...known))
      }
    }
    return incomplete
  }

  const isOver = (key: string, active: ReadonlyMap<string, RuleFinding>, at: number): boolean => {
    if (active.has(key)) {
      restored.delete(key)
      return false
    }
    // After a restart a rule may take minutes until its condition is known.
    return !restored.has(key) || at - (running?.startedAt ?? at) >= JOINED
  }

  return {
    observe: (at, { findings }) => {
      if (!running || running.signal.aborted) return
      const active = new Map(findings.map((finding) => [alertKey(finding), finding]))
      const ended = [...firing].filter(([key]) => isOver(key, active, at))
      for (const id of new Set(ended.map(([, one]) => one))) {
        const keys = new Set(ended.flatMap(([key, one]) => (one === id ? [key] : [])))
        for (const key of keys) firing.delete(key)
        endAlerts(id, keys, at)
      }
      const fresh = [...active].filter(
        ([key, { state, severity }]) => state === 'firing' && severity === 'critical' && !firing.has(key),
      )
      if (fresh.length === 0 || (unwritableAt !== undefined && Math.abs(at - unwritableAt) < RETRY)) return
      const alerts = fresh.map(([, finding]) => describeAlert(finding, at))
      const isJoined = newest && Math.abs(at - newest.lastAt) <= JOINED && Math.abs(at - newest.beganAt) <= LONGEST
      if (newest && isJoined) {
        newest = { ...newest, lastAt: at }
        addAlerts(newest.id, alerts)
      } else newest = { id: begin(at, alerts, running.signal), beganAt: at, lastAt: at }
      for (const [key] of fresh) firing.set(key, newest.id)
    },
    idOf: (finding) => {
      const id = firing.get(alertKey(finding))
      return id !== undefined && stored.has(id) ? id : undefined
    },
    run: async (signal) => {
      const incomplete = await restore().catch((error: unknown): readonly string[] => {
        report(error)
        return []
      })
      running = { signal, startedAt: clock.now() }
      start(async () => {
        for (const id of incomplete) await complete(id, signal).catch(report)
      })
      await waitForAbort(signal)
      await Promise.all(tasks)
    },
  }
}

const unreadable = (directory: string, count: number, first: Error): Error =>
  new Error(`${count} files in ${directory} cannot be read as incidents; the first: ${first.message}`, { cause: first })

const timeOf = (text: string): number => Date.parse(text)
const isoTime = (at: number): string => new Date(at).toISOString()
