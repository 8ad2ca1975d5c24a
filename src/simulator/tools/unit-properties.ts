import type { Unit } from './units.ts'

type TimeStyle = (ms: number | undefined) => string

/** How `--timestamp=` writes a moment; undefined for a style that systemd does not know. */
export const timeStyle = (name: string): TimeStyle | undefined => STYLES[name]

/** The properties of a unit in the order in which systemd tells them, which is not the one they are asked in. */
export const renderProperties = (
  unit: Unit,
  time: TimeStyle,
): readonly (readonly [name: string, value: string])[] => [
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
  ['ControlGroup', unit.mainPid === undefined ? '' : `/system.slice/${unit.id}`],
  ['MemoryCurrent', accounted(unit.memoryBytes)],
  ['CPUUsageNSec', accounted(unit.cpuNs)],
  ['TasksCurrent', accounted(unit.tasks)],
]

/** systemd 252 writes these two as dates, whatever `--timestamp=` says. */
const timerProperties = (unit: Unit): ReturnType<typeof renderProperties> => [
  ['NextElapseUSecRealtime', pretty(unit.nextMs)],
  ['LastTriggerUSec', pretty(unit.triggeredMs)],
  ['Result', unit.result],
]

const accounted = (value: number | undefined): string =>
  value === undefined ? '[not set]' : String(value)

/** `Mon 2026-03-02 08:15:30 UTC`: a simulated node lives in UTC. */
const pretty: TimeStyle = (ms) => (ms === undefined ? '' : `${date(ms)} UTC`)

const date = (ms: number): string => {
  const [day = '', clock = ''] = new Date(ms).toISOString().split('T')
  return `${WEEKDAYS[new Date(ms).getUTCDay()]} ${day} ${clock.slice(0, 8)}`
}

const precise: TimeStyle = (ms) =>
  ms === undefined
    ? ''
    : `${date(ms)}.${String(Math.round((ms % 1000) * 1000)).padStart(6, '0')} UTC`

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const

const STYLES: Readonly<Record<string, TimeStyle>> = {
  pretty,
  utc: pretty,
  us: precise,
  'us+utc': precise,
  unix: (ms) => (ms === undefined ? '' : `@${Math.floor(ms / 1000)}`),
}
