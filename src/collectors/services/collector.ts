import { type Collector, metadataOf, poll, type Subscribe } from '../../core/collector.ts'
import type { Context } from '../../core/clock.ts'
import { SourceError } from '../../core/errors.ts'
import { sample, sampleIfKnown } from '../../core/metric.ts'
import { createUnknownValues } from '../../core/unknown-values.ts'
import { definition, SERVICE_STATES } from './definition.ts'
import { parseUnits, type Unit, UNIT_PROPERTIES } from '../../parsers/systemctl.ts'
import { createPartialRestart } from '../lifecycle/restarts.ts'
import type { Settings, Uses } from '../dependencies.ts'
import type { UnitWatch } from '../../sources/unit-watch.ts'
import { LOG_PROPERTIES, type UnitLogs } from '../shared/unit-logs.ts'
import { withinBounds } from '../../core/bounds.ts'
import { inSeconds, minute, parseU64, renderDuration, second } from '../../core/units.ts'

export interface ServicesReading {
  readonly services: readonly (Unit & { readonly service: string; readonly expected: boolean })[]
  readonly timers: readonly (Unit & { readonly timer: string })[]
  /** Null until both consensus and execution have been running. */
  readonly partialRestart: boolean | null
}

/** Between two runs of systemctl if nothing changes. */
const SHOW_EVERY_MS = minute
const USAGE_EVERY_MS = 15 * second

const PROPERTIES = [...new Set([...UNIT_PROPERTIES, ...LOG_PROPERTIES])]

/**
 * The node's systemd units and timers, by one `systemctl show`: when one of them has changed, and every minute. It runs
 * in each interval while a unit starts or stops, which nothing reports, and if units cannot be watched. In the other
 * intervals the last reading is reported again, so that it does not become stale.
 */
export const services = ({
  exec,
  unitNames,
  unitLogs,
  units,
  timers,
  required,
  lifecycle,
  mainPids,
  recorder,
  watchUnits,
  timing,
}: Uses<
  'exec' | 'unitNames' | 'lifecycle' | 'mainPids' | 'recorder' | 'watchUnits',
  Settings<typeof definition, 'units' | 'timers' | 'required'> & { readonly unitLogs: Pick<UnitLogs, 'take'> }
>): Collector<ServicesReading> => {
  const unknownValues = createUnknownValues(recorder, 'systemctl')
  const partialRestart = createPartialRestart()
  /** The last exit of each service: systemd clears it when the unit is started again. */
  const exits = new Map<string, Unit['exit']>()

  let watch: UnitWatch | null = null
  let isChanged = false
  /** Why a change may not be noticed; null if it will be. */
  let whyPolled: string | null = null
  /** The last answer of systemctl, with what the units used then, and that reading with what they use now. */
  let kept: KeptReading | undefined

  const subscribe: Subscribe = (wake) => {
    kept = undefined
    watch =
      watchUnits?.(() => {
        isChanged = true
        wake()
      }) ?? null
    return () => watch?.close()
  }

  const read = async (context: Context): Promise<ServicesReading> => {
    const now = context.clock.elapsed()
    if (!watch || !kept || isChanged || whyPolled !== null || now - kept.shownAt >= SHOW_EVERY_MS) return show(context)
    if (!kept.shown.services.every(isSettled)) return show(context)
    if (now - kept.usedAt >= USAGE_EVERY_MS) {
      const { shown, used } = kept
      const usages = readUsages(shown.services, watch)
      const reading = { ...shown, services: shown.services.map((unit) => withUsage(unit, used, usages)) }
      kept = { ...kept, reading, usedAt: now }
    }
    return kept.reading
  }

  const show = async (context: Context): Promise<ServicesReading> => {
    const now = context.clock.elapsed()
    kept = undefined
    isChanged = false
    try {
      watch?.renew()
      const reading = await readUnits(context)
      mainPids.current = pidsOf(reading)
      if (watch) {
        whyPolled = watch.cover(reading.services.map(toWatch))
        const used = readUsages(reading.services, watch)
        kept = { shown: reading, used, reading, shownAt: now, usedAt: now }
      }
      return reading
    } catch (error) {
      mainPids.current = new Map()
      throw error
    }
  }

  const readUnits = async ({ signal }: Context): Promise<ServicesReading> => {
    const resolvedUnits = await unitNames.all(units, signal)
    const resolvedTimers = await unitNames.all(timers, signal)
    const requested = [...resolvedUnits.values(), ...resolvedTimers.values()]
    // Select properties by name: ExecStart and the environment contain the password of the keystores.
    const args = ['show', '--timestamp=us+utc', `--property=${PROPERTIES.join(',')}`, ...requested]
    const { stdout } = await exec.run({ command: 'systemctl', args }, signal)
    const shown = parseUnits(stdout)
    if (shown.length !== requested.length) {
      const happened = `systemctl showed ${shown.length} of ${requested.length}`
      throw new SourceError({ doing: 'read the units', happened })
    }
    unknownValues.add(shown.flatMap((unit) => unit.unknownValues))
    unitLogs.take(new Map(shown.flatMap((unit, at) => (requested[at] === undefined ? [] : [[requested[at], unit]]))))

    const found = [...resolvedUnits.keys()].flatMap((service, at) => {
      const unit = shown[at] // systemctl prints the units in the order of the arguments
      if (!unit) return []
      exits.set(service, unit.exit ?? exits.get(service) ?? null)
      const exit = exits.get(service) ?? null
      return [{ service, ...unit, exit, expected: isExpected(service, unit, required) }]
    })
    for (const { service, invocation, activeState, exitedAt, result } of found) {
      const hasEnded = (activeState === 'inactive' || activeState === 'failed') && exitedAt !== null
      lifecycle.polled({ service, invocation, result: hasEnded ? result : null })
    }
    return {
      services: found,
      timers: [...resolvedTimers.keys()].flatMap((timer, at) => {
        const unit = shown[resolvedUnits.size + at]
        return unit ? [{ timer, ...unit }] : []
      }),
      partialRestart: partialRestart(
        found.find(({ service }) => service === 'bft'),
        found.find(({ service }) => service === 'execution'),
      ),
    }
  }

  return {
    ...metadataOf(definition, timing),
    run: poll(timing, read, subscribe),
    samples,
    states: (reading) => ({
      ...Object.fromEntries(reading.services.map((unit) => [unit.service, describe(unit)])),
      ...(watch !== null && { 'unit changes': whyPolled === null ? WATCHED : polled(whyPolled, timing.interval) }),
      ...unknownValues.states(),
      ...lifecycle.unknownResults(),
    }),
  }
}

interface KeptReading {
  readonly shown: ServicesReading
  readonly used: Usages
  readonly reading: ServicesReading
  /** By `clock.elapsed()`. */
  readonly shownAt: number
  readonly usedAt: number
}

type Usages = ReturnType<typeof readUsages>

/** What each control group uses, from the files from which systemd has its figures; null for what it does not report. */
const readUsages = (units: readonly Unit[], watch: UnitWatch) =>
  new Map(
    units.flatMap(({ controlGroup }) => {
      if (controlGroup === null) return []
      const { memory, cpu, tasks } = watch.usage(controlGroup)
      const usage = {
        memoryBytes: withinBounds('bytes', parseU64(memory?.trim() ?? '')),
        cpuMicroseconds: parseU64(/^usage_usec (\d+)$/m.exec(cpu ?? '')?.[1] ?? '') ?? null,
        tasks: withinBounds('tasks', parseU64(tasks?.trim() ?? '')),
      }
      return [[controlGroup, usage] as const]
    }),
  )

/**
 * The figures that systemctl would show now. systemd subtracts from the CPU time of a control group what it had used when
 * the unit was started (`unit_get_cpu_usage` in src/core/cgroup.c), so the CPU time since `shown` is added to that of
 * `unit`. What systemctl did not show stays unknown: its accounting is off.
 */
const withUsage = <Shown extends Unit>(unit: Shown, shown: Usages, now: Usages): Shown => {
  const [before, after] = [shown.get(unit.controlGroup ?? ''), now.get(unit.controlGroup ?? '')]
  const [from, to] = [before?.cpuMicroseconds ?? null, after?.cpuMicroseconds ?? null]
  const added = from === null || to === null || to < from ? 0 : Number(to - from) / 1e6
  return {
    ...unit,
    memoryBytes: unit.memoryBytes === null ? null : (after?.memoryBytes ?? unit.memoryBytes),
    cpuSeconds: unit.cpuSeconds === null ? null : unit.cpuSeconds + added,
    tasks: unit.tasks === null ? null : (after?.tasks ?? unit.tasks),
  }
}

const WATCHED = 'seen at once'
const polled = (why: string, interval: number): string => `seen after ${renderDuration(interval)} at most: ${why}`

/** Nothing reports how a start, a stop or a reload continues. */
const isSettled = ({ activeState }: Unit): boolean =>
  ['active', 'inactive', 'failed', 'maintenance'].includes(activeState)

const toWatch = ({ unit, activeState, invocation, controlGroup }: Unit) => ({
  unit: unit ?? '',
  invocation: activeState === 'active' ? invocation : null,
  controlGroup,
})

const pidsOf = ({ services: found }: ServicesReading): ReadonlyMap<string, number> =>
  new Map(found.flatMap(({ service, mainPid }) => (mainPid === null ? [] : [[service, mainPid]])))

const isExpected = (service: string, { unitFileState }: Unit, required: readonly string[]): boolean =>
  required.includes(service) || unitFileState === 'enabled' || unitFileState === 'enabled-runtime'

type Service = ServicesReading['services'][number]

/** A unit that is not expected to run is healthy when it does not. */
const describe = ({ loadState, activeState, result, exit, expected }: Service): string => {
  const suffix = expected ? '' : ' (not enabled)'
  if (loadState === 'not-found') return `not found${suffix}`
  if (loadState === 'masked') return `masked${suffix}`
  if (activeState === 'inactive') return `inactive${suffix}`
  if (activeState !== 'failed' || result === null) return activeState
  return `failed (${result}${exit === null ? '' : ` ${exit.status}`})`
}

const stateOf = ({ activeState }: Pick<Service, 'activeState'>): string =>
  activeState === 'reloading' ? 'active' : activeState === 'maintenance' ? 'inactive' : activeState

const samples: Collector<ServicesReading>['samples'] = ({ services: units, timers, partialRestart }) => [
  ...units.flatMap(({ service, expected, ...unit }) => {
    const now = unit.loadState === 'not-found' ? 'not-found' : stateOf(unit)
    return [
      ...SERVICE_STATES.map((state) => sample('chain_service_state', state === now, { service, state })),
      sample('chain_service_active', now === 'active', { service }),
      sample('chain_service_expected', expected, { service }),
      ...sampleIfKnown('chain_service_restarts_total', unit.restarts, { service }),
      ...sampleIfKnown('chain_service_start_timestamp_seconds', inSeconds(unit.startedAt), { service }),
      ...sampleIfKnown('chain_service_last_exit_status', unit.exit?.status, { service }),
      ...sampleIfKnown('chain_service_memory_bytes', unit.memoryBytes, { service }),
      ...sampleIfKnown('chain_service_cpu_seconds_total', unit.cpuSeconds, { service }),
      ...sampleIfKnown('chain_service_tasks', unit.tasks, { service }),
    ]
  }),
  ...timers.flatMap(({ timer, lastTriggerAt, nextTriggerAt }) => [
    ...sampleIfKnown('chain_timer_last_trigger_timestamp_seconds', inSeconds(lastTriggerAt), { timer }),
    ...sampleIfKnown('chain_timer_next_trigger_timestamp_seconds', inSeconds(nextTriggerAt), { timer }),
  ]),
  ...sampleIfKnown('chain_service_partial_restart', partialRestart),
]
