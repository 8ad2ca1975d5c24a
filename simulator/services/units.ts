import { digest, pick } from '../chain.ts'
import type { NodeSubject, SimulatedNode } from '../subject.ts'
import type { Draft } from '../journal/entry.ts'
import { runEntry } from '../journal/journal.ts'
import { directiveTable, setIn } from '../scenario/directives.ts'
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
import { createGrammar, type Frame, parseArguments, type ParsedArguments, type Tool } from '../tools/tools.ts'
import { widen } from '../../src/core/widen.ts'

/** The clean-up of old files, which a timer runs each hour. */
export const usualCleanup = {
  /** Whether it finds no new file, whatever the node does. */
  skips: false,
  /** When an operator last started it by hand. */
  ranMs: widen<number | undefined>(undefined),
}

const changeCleanup = setIn('cleanup')

export const cleanupDirectives = directiveTable({
  'cleanup skips': ['the clean-up finds no new file and deletes nothing', changeCleanup({ skips: true })],
  'cleanup works': [
    'the clean-up deletes files, unless the node was stalled for 20 minutes',
    changeCleanup({ skips: false }),
  ],
  'cleanup runs': [
    'an operator starts the clean-up, outside of its hour',
    changeCleanup((_, atMs) => ({ ranMs: atMs })),
  ],
})

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

/** The properties of a unit as systemd prints them, in its order, which is not that of the request. */
export type Unit = Readonly<Record<string, string>>

type TimeStyle = (ms: number) => string

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const

const date = (ms: number): string => {
  const [day = '', clock = ''] = new Date(ms).toISOString().split('T')
  return `${WEEKDAYS[new Date(ms).getUTCDay()]} ${day} ${clock.slice(0, 8)}`
}

/** `Mon 2026-03-02 08:15:30 UTC`: the time zone of a simulated node is UTC. */
const pretty: TimeStyle = (ms) => `${date(ms)} UTC`

/** The time formats of `--timestamp=`. */
const TIME_STYLES: ReadonlyMap<string, TimeStyle> = new Map([
  ['pretty', pretty],
  ['us+utc', (ms) => `${date(ms)}.${String(Math.round((ms % 1000) * 1000)).padStart(6, '0')} UTC`],
])

/** The current units of a node, by name. */
export const readUnits = (node: SimulatedNode, time = pretty): ReadonlyMap<string, Unit> => {
  const { services } = node.condition()
  const units = ROLES.map((role) => services[role])
    .filter(({ removed }) => !removed)
    .map((service) => serviceUnit(node, service, time))
  return new Map([...units, cruftService(node, time), cruftTimer(node, time)].map((unit) => [unit['Id'] ?? '', unit]))
}

const NO_SERVICE: Unit = {
  Type: '',
  Restart: 'no',
  MainPID: '0',
  Result: 'success',
  NRestarts: '0',
  ExecMainStartTimestamp: '',
  ExecMainExitTimestamp: '',
  ExecMainPID: '0',
  ExecMainCode: '0',
  ExecMainStatus: '0',
  StandardOutput: 'journal',
  LogNamespace: '',
  ControlGroup: '',
  MemoryCurrent: '[not set]',
  CPUUsageNSec: '[not set]',
  TasksCurrent: '[not set]',
}

const NO_TIMER: Unit = { NextElapseUSecRealtime: '', LastTriggerUSec: '', Result: 'success' }

/** The properties that systemd prints for an unknown unit. */
const missingUnit = (id: string): Unit => ({
  ...(id.endsWith('.timer') ? NO_TIMER : NO_SERVICE),
  Id: id,
  Description: id,
  LoadState: 'not-found',
  ActiveState: 'inactive',
  SubState: 'dead',
  FragmentPath: '',
  UnitFileState: '',
  UnitFilePreset: '',
  StateChangeTimestamp: '',
  ActiveEnterTimestamp: '',
  NeedDaemonReload: 'no',
  InvocationID: '',
})

const loadedUnit = (id: string, properties: Unit): Unit => ({
  ...missingUnit(id),
  Description: descriptionOf(id),
  LoadState: 'loaded',
  FragmentPath: `/usr/lib/systemd/system/${id}`,
  UnitFilePreset: 'enabled',
  ...properties,
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

const serviceUnit = (node: SimulatedNode, service: Service, time: TimeStyle): Unit => {
  const { role, state, startedMs, changedMs, exit } = service
  const id = unitOf(node.prefix, role)
  const ranMs = (exit?.atMs ?? node.now()) - startedMs
  const { bytes, cpus, tasks } = USAGE[role]
  const variation = 1 + pick(40, node.name, role, Math.floor(node.now() / 5000)) / 1000
  return loadedUnit(id, {
    Type: 'simple',
    Result: service.result,
    ExecMainStartTimestamp: time(startedMs),
    ExecMainPID: String(pidOf(service)),
    CPUUsageNSec: String(Math.round(ranMs * cpus) * 1_000_000),
    ActiveState: state,
    SubState: { active: 'running', inactive: 'dead', failed: 'failed' }[state],
    UnitFileState: role === 'ledger-tail' ? 'disabled' : 'enabled',
    StateChangeTimestamp: time(changedMs),
    ActiveEnterTimestamp: time(startedMs),
    InvocationID: invocationOf(node.name, service),
    ...(exit && {
      ExecMainExitTimestamp: time(exit.atMs),
      ExecMainCode: String(EXIT_CODE[exit.code]),
      ExecMainStatus: String(exit.status),
    }),
    ...(state === 'active' && {
      MainPID: String(pidOf(service)),
      ControlGroup: `/system.slice/${id}`,
      MemoryCurrent: String(Math.round((bytes * variation) / 4096) * 4096),
      TasksCurrent: String(tasks),
    }),
  })
}

const HOUR_MS = 3_600_000

const cruftService = (node: SimulatedNode, time: TimeStyle): Unit => {
  const { startedMs, invocation, pid } = lastCleanup(node.name, node.now(), node.condition().cleanup.ranMs)
  const endedMs = startedMs + ONESHOT_MS
  const runs = node.now() < endedMs
  const id = `${node.prefix}-cruft.service`
  return loadedUnit(id, {
    Type: 'oneshot',
    ExecMainStartTimestamp: time(startedMs),
    ExecMainPID: String(pid),
    CPUUsageNSec: '412000000',
    UnitFileState: 'static',
    InvocationID: invocation,
    ...(runs
      ? {
          MainPID: String(pid),
          ControlGroup: `/system.slice/${id}`,
          ActiveState: 'activating',
          SubState: 'start',
          StateChangeTimestamp: time(startedMs),
        }
      : {
          ExecMainExitTimestamp: time(endedMs),
          ExecMainCode: String(EXIT_CODE.exited),
          StateChangeTimestamp: time(endedMs),
        }),
  })
}

/** systemd 252 prints the times of a timer as dates, ignoring `--timestamp=`. */
const cruftTimer = (node: SimulatedNode, time: TimeStyle): Unit => {
  const lastMs = Math.floor(node.now() / HOUR_MS) * HOUR_MS
  return loadedUnit(`${node.prefix}-cruft.timer`, {
    NextElapseUSecRealtime: pretty(lastMs + HOUR_MS),
    LastTriggerUSec: pretty(lastMs),
    ActiveState: 'active',
    SubState: 'waiting',
    UnitFileState: 'enabled',
    StateChangeTimestamp: time(lastMs + ONESHOT_MS),
    ActiveEnterTimestamp: time(node.condition().services.otelcol.startedMs),
    InvocationID: digest(node.name, 'invocation', 'cruft.timer').slice(0, 32),
  })
}

/** The simulated systemctl: the commands that the agent runs. */
export const createSystemctl =
  (node: SimulatedNode): Tool =>
  (argv) => {
    const read = parseArguments(GRAMMAR, argv)
    if (typeof read === 'string') return fail(`systemctl: ${read}`)
    const { operands, options } = read
    const style = TIME_STYLES.get(options.get('timestamp')?.at(-1) ?? 'pretty')
    if (!style) return fail('Failed to parse timestamp style: Invalid argument')
    const [verb = '', ...names] = operands
    const command = COMMANDS.get(verb)
    return command?.({ units: readUnits(node, style), names, options }) ?? fail(`Unknown command verb ${verb}.`)
  }

interface Call {
  readonly units: ReadonlyMap<string, Unit>
  readonly names: readonly string[]
  readonly options: ParsedArguments['options']
}

const GRAMMAR = createGrammar('p,property= value timestamp= no-pager no-legend')

const show = ({ units, names, options }: Call): readonly Frame[] => {
  const properties = (options.get('property') ?? []).flatMap((list) => list.split(',')).filter((name) => name !== '')
  const blocks = names.map((name) => {
    const id = withSuffix(name)
    return Object.entries(units.get(id) ?? missingUnit(id))
      .filter(([property]) => properties.length === 0 || properties.includes(property))
      .map(([property, value]) => (options.has('value') ? `${value}\n` : `${property}=${value}\n`))
      .join('')
  })
  return [{ stdout: blocks.join('\n') }, { exit: 0 }]
}

/** As with --no-legend. */
const listUnitFiles = ({ units, names }: Call): readonly Frame[] => {
  const patterns = names.map(globPattern)
  const rows = [...units]
    .filter(([id]) => patterns.length === 0 || patterns.some((pattern) => pattern.test(id)))
    .map(([id, { UnitFileState: state = '' }]) => `${id} ${state} ${state === 'static' ? '-' : 'enabled'}\n`)
  return [{ stdout: rows.toSorted().join('') }, { exit: rows.length === 0 && names.length > 0 ? 1 : 0 }]
}

const COMMANDS = new Map([
  ['show', show],
  ['list-unit-files', listUnitFiles],
])

const withSuffix = (name: string): string => (name.includes('.') ? name : `${name}.service`)

const globPattern = (glob: string): RegExp => {
  const escaped = withSuffix(glob).replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`)
}

const fail = (message: string): readonly Frame[] => [{ stderr: `${message}\n` }, { exit: 1 }]
