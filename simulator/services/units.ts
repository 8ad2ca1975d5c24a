import { digest, pick } from '../chain.ts'
import type { NodeSubject, SimulatedNode } from '../subject.ts'
import type { Draft } from '../journal/entry.ts'
import { runEntry } from '../journal/journal.ts'
import { directive, type Directive, setIn } from '../scenario/directives.ts'
import {
  descriptionOf,
  invocationOf,
  ONESHOT_MS,
  oneshotEntries,
  pidOf,
  type Role,
  ROLES,
  type Service,
  unitOf,
} from './service.ts'

declare module '../scenario/timeline.ts' {
  interface Condition {
    readonly cleanup: Cleanup
  }
}

/** The clean-up of old files, which a timer runs each hour. */
export interface Cleanup {
  /** Whether it finds no new file, whatever the node does. */
  readonly skips: boolean
  /** When an operator last started it by hand. */
  readonly ranMs: number | undefined
}

export const usualCleanup: Cleanup = { skips: false, ranMs: undefined }

const changeCleanup = setIn('cleanup')

export const cleanupDirectives: readonly Directive[] = [
  directive('cleanup skips', 'the clean-up finds no new file and deletes nothing', changeCleanup({ skips: true })),
  directive(
    'cleanup works',
    'the clean-up deletes files, unless the node was stalled for 20 minutes',
    changeCleanup({ skips: false }),
  ),
  directive(
    'cleanup runs',
    'an operator starts the clean-up, outside of its hour',
    changeCleanup((_, atMs) => ({ ranMs: atMs })),
  ),
]

/** The clean-up does nothing if the ledger has no new file for this time. */
const STALE_MS = 20 * 60_000

/** One run of the clean-up, started by its timer or by hand. */
type CleanupRun = ReturnType<typeof cleanupRunOf>

/** The latest run. */
const lastCleanup = (node: string, nowMs: number, manualMs: number | undefined): CleanupRun => {
  const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS
  return manualMs !== undefined && manualMs > hourMs
    ? cleanupRunOf(node, manualMs, manualMs)
    : cleanupRunOf(node, hourMs, hourMs / HOUR_MS)
}

const cleanupRunOf = (node: string, startedMs: number, number: number) => ({
  startedMs,
  invocation: digest(node, 'invocation', 'cruft', number).slice(0, 32),
  pid: 1200 + pick(28_000, 'pid', 'cruft', number),
})

/** The journal entries of systemd and the script for each run of the clean-up. */
export const createCleanupEntries = ({ name, prefix, chain, timeline, heights }: NodeSubject) => {
  const unit = `${prefix}-cruft.service`
  const program = 'clear-old-artifacts.sh'
  const manualRuns = timeline.changes.flatMap(({ before, after }) => {
    const { ranMs } = after.cleanup
    return ranMs === undefined || ranMs === before.cleanup.ranMs ? [] : [cleanupRunOf(name, ranMs, ranMs)]
  })

  const runs = function* (fromMs: number, toMs: number): Generator<CleanupRun> {
    // The hours whose run, which takes ONESHOT_MS, reaches into the time range.
    const firstHour = Math.floor((fromMs - ONESHOT_MS) / HOUR_MS)
    for (let hour = firstHour; hour * HOUR_MS <= toMs; hour += 1) {
      yield cleanupRunOf(name, hour * HOUR_MS, hour)
    }
    yield* manualRuns
  }

  const textAt = (atMs: number): string => {
    const newest = chain.block(heights.consensus(atMs))
    const isStale = newest !== undefined && atMs - newest.seenMs > STALE_MS
    return timeline.conditionAt(atMs).cleanup.skips || isStale
      ? 'No new files detected. Skipping deletion'
      : 'Cleanup completed successfully'
  }

  return function* (fromMs: number, toMs: number): Generator<Draft> {
    for (const run of runs(fromMs, toMs)) {
      const [begins, ...ends] = oneshotEntries(unit, run.invocation, run.startedMs)
      const atMs = run.startedMs + ONESHOT_MS - 1
      const output = runEntry({ unit, ...run }, { atMs, text: textAt(atMs), program })
      for (const draft of begins ? [begins, output, ...ends] : []) {
        if (draft.atMs > fromMs && draft.atMs <= toMs) yield draft
      }
    }
  }
}

/** The properties of a unit in systemd; empty or undefined if not set. Times in ms. */
export interface Unit {
  readonly id: string
  readonly kind: 'service' | 'timer'
  readonly description: string
  readonly fileState: 'enabled' | 'disabled' | 'static' | ''
  readonly loadState: 'loaded' | 'not-found'
  readonly activeState: string
  readonly subState: string
  readonly result: string
  readonly invocation: string
  readonly type: string
  readonly startedMs?: number | undefined
  readonly exitedMs?: number | undefined
  readonly activeMs?: number | undefined
  readonly changedMs?: number | undefined
  readonly mainPid?: number | undefined
  readonly lastPid?: number | undefined
  readonly exitCode?: number | undefined
  readonly exitStatus?: number | undefined
  readonly memoryBytes?: number | undefined
  readonly cpuNs?: number | undefined
  readonly tasks?: number | undefined
  readonly triggeredMs?: number | undefined
  readonly nextMs?: number | undefined
}

/** The current units of a node, by name. */
export const readUnits = (node: SimulatedNode): ReadonlyMap<string, Unit> => {
  const { services } = node.condition()
  const units = [
    ...ROLES.map((role) => services[role])
      .filter(({ removed }) => !removed)
      .map((service) => serviceUnit(node, service)),
    cruftService(node),
    cruftTimer(node),
  ]
  return new Map(units.map((unit) => [unit.id, unit]))
}

/** The properties that systemd prints for an unknown unit. */
export const missingUnit = (id: string): Unit => ({
  id,
  kind: id.endsWith('.timer') ? 'timer' : 'service',
  description: id,
  fileState: '',
  loadState: 'not-found',
  activeState: 'inactive',
  subState: 'dead',
  result: 'success',
  invocation: '',
  type: '',
})

const GIB = 2 ** 30
const EXIT_CODE = { exited: 1, killed: 2, dumped: 3 } as const

/** Resource use of each service: bytes, CPUs, threads. */
const USAGE: Readonly<Record<Role, { readonly bytes: number; readonly cpus: number; readonly tasks: number }>> = {
  bft: { bytes: 5.4 * GIB, cpus: 0.83, tasks: 47 },
  execution: { bytes: 21.7 * GIB, cpus: 1.92, tasks: 68 },
  rpc: { bytes: 2.1 * GIB, cpus: 0.34, tasks: 39 },
  'ledger-tail': { bytes: 0.09 * GIB, cpus: 0.01, tasks: 9 },
  otelcol: { bytes: 0.16 * GIB, cpus: 0.02, tasks: 14 },
}

const serviceUnit = (node: SimulatedNode, service: Service): Unit => {
  const { role, state, exit } = service
  const id = unitOf(node.prefix, role)
  const active = state === 'active'
  const ranMs = (exit?.atMs ?? node.now()) - service.startedMs
  const { bytes, cpus, tasks } = USAGE[role]
  const variation = 1 + pick(40, node.name, role, Math.floor(node.now() / 5000)) / 1000
  return {
    id,
    kind: 'service',
    description: descriptionOf(id),
    fileState: role === 'ledger-tail' ? 'disabled' : 'enabled',
    loadState: 'loaded',
    activeState: state,
    subState: { active: 'running', inactive: 'dead', failed: 'failed' }[state],
    result: service.result,
    invocation: invocationOf(node.name, service),
    type: 'simple',
    startedMs: service.startedMs,
    exitedMs: exit?.atMs,
    activeMs: service.startedMs,
    changedMs: service.changedMs,
    mainPid: active ? pidOf(service) : undefined,
    lastPid: pidOf(service),
    exitCode: exit && EXIT_CODE[exit.code],
    exitStatus: exit?.status,
    memoryBytes: active ? Math.round((bytes * variation) / 4096) * 4096 : undefined,
    cpuNs: Math.round(ranMs * cpus) * 1_000_000,
    tasks: active ? tasks : undefined,
  }
}

const HOUR_MS = 3_600_000

const cruftService = (node: SimulatedNode): Unit => {
  const { startedMs, invocation, pid } = lastCleanup(node.name, node.now(), node.condition().cleanup.ranMs)
  const runs = node.now() - startedMs < ONESHOT_MS
  const id = `${node.prefix}-cruft.service`
  return {
    ...missingUnit(id),
    description: descriptionOf(id),
    fileState: 'static',
    loadState: 'loaded',
    activeState: runs ? 'activating' : 'inactive',
    subState: runs ? 'start' : 'dead',
    invocation,
    type: 'oneshot',
    startedMs,
    exitedMs: runs ? undefined : startedMs + ONESHOT_MS,
    changedMs: runs ? startedMs : startedMs + ONESHOT_MS,
    mainPid: runs ? pid : undefined,
    lastPid: pid,
    exitCode: runs ? undefined : EXIT_CODE.exited,
    cpuNs: 412_000_000,
  }
}

const cruftTimer = (node: SimulatedNode): Unit => {
  const { startedMs } = node.condition().services.otelcol
  const lastMs = Math.floor(node.now() / HOUR_MS) * HOUR_MS
  const id = `${node.prefix}-cruft.timer`
  return {
    ...missingUnit(id),
    description: descriptionOf(id),
    fileState: 'enabled',
    loadState: 'loaded',
    activeState: 'active',
    subState: 'waiting',
    invocation: digest(node.name, 'invocation', 'cruft.timer').slice(0, 32),
    activeMs: startedMs,
    changedMs: lastMs + ONESHOT_MS,
    triggeredMs: lastMs,
    nextMs: lastMs + HOUR_MS,
  }
}

type TimeStyle = (ms: number | undefined) => string

/** The time format of `--timestamp=`; undefined for an unknown style. */
export const timeStyle = (name: string): TimeStyle | undefined => STYLES[name]

/** The properties of a unit in systemd's order, which is not that of the request. */
export const renderProperties = (unit: Unit, time: TimeStyle): readonly (readonly [name: string, value: string])[] => [
  ...(unit.kind === 'service' ? serviceProperties(unit, time) : timerProperties(unit)),
  ['Id', unit.id],
  ['Description', unit.description],
  ['LoadState', unit.loadState],
  ['ActiveState', unit.activeState],
  ['SubState', unit.subState],
  ['FragmentPath', unit.loadState === 'loaded' ? `/usr/lib/systemd/system/${unit.id}` : ''],
  ['UnitFileState', unit.fileState],
  ['UnitFilePreset', unit.loadState === 'loaded' ? 'enabled' : ''],
  ['StateChangeTimestamp', time(unit.changedMs)],
  ['ActiveEnterTimestamp', time(unit.activeMs)],
  ['NeedDaemonReload', 'no'],
  ['InvocationID', unit.invocation],
]

const serviceProperties = (unit: Unit, time: TimeStyle): ReturnType<typeof renderProperties> => [
  ['Type', unit.type],
  ['Restart', 'no'],
  ['MainPID', String(unit.mainPid ?? 0)],
  ['Result', unit.result],
  ['NRestarts', '0'],
  ['ExecMainStartTimestamp', time(unit.startedMs)],
  ['ExecMainExitTimestamp', time(unit.exitedMs)],
  ['ExecMainPID', String(unit.lastPid ?? 0)],
  ['ExecMainCode', String(unit.exitCode ?? 0)],
  ['ExecMainStatus', String(unit.exitStatus ?? 0)],
  ['StandardOutput', 'journal'],
  ['LogNamespace', ''],
  ['ControlGroup', unit.mainPid === undefined ? '' : `/system.slice/${unit.id}`],
  ['MemoryCurrent', accounted(unit.memoryBytes)],
  ['CPUUsageNSec', accounted(unit.cpuNs)],
  ['TasksCurrent', accounted(unit.tasks)],
]

/** systemd 252 prints these two as dates, ignoring `--timestamp=`. */
const timerProperties = (unit: Unit): ReturnType<typeof renderProperties> => [
  ['NextElapseUSecRealtime', pretty(unit.nextMs)],
  ['LastTriggerUSec', pretty(unit.triggeredMs)],
  ['Result', unit.result],
]

const accounted = (value: number | undefined): string => (value === undefined ? '[not set]' : String(value))

/** `Mon 2026-03-02 08:15:30 UTC`: the time zone of a simulated node is UTC. */
const pretty: TimeStyle = (ms) => (ms === undefined ? '' : `${date(ms)} UTC`)

const date = (ms: number): string => {
  const [day = '', clock = ''] = new Date(ms).toISOString().split('T')
  return `${WEEKDAYS[new Date(ms).getUTCDay()]} ${day} ${clock.slice(0, 8)}`
}

const precise: TimeStyle = (ms) =>
  ms === undefined ? '' : `${date(ms)}.${String(Math.round((ms % 1000) * 1000)).padStart(6, '0')} UTC`

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const

const STYLES: Readonly<Record<string, TimeStyle>> = {
  pretty,
  'us+utc': precise,
}
