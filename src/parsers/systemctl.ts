import { ParseError } from '../core/errors.ts'
import { parseU64 } from '../core/units.ts'
import { parseSystemdTime } from './systemd-time.ts'

const ACTIVE_STATES = [
  'active',
  'reloading',
  'inactive',
  'failed',
  'activating',
  'deactivating',
  'maintenance',
] as const

/** The properties that `parseUnits` reads; to be asked for by name, since others hold secrets (ExecStart). */
export const UNIT_PROPERTIES = [
  'Id',
  'LoadState',
  'ActiveState',
  'SubState',
  'UnitFileState',
  'Result',
  'NRestarts',
  'InvocationID',
  'MainPID',
  'ExecMainCode',
  'ExecMainStatus',
  'ExecMainStartTimestamp',
  'ExecMainExitTimestamp',
  'MemoryCurrent',
  'CPUUsageNSec',
  'TasksCurrent',
  'LastTriggerUSec',
  'NextElapseUSecRealtime',
] as const

/** A unit as systemd describes it; null is what it left empty, does not know, or says of no such unit. */
export interface Unit {
  readonly unit: string | null
  readonly loadState: string
  readonly activeState: (typeof ACTIVE_STATES)[number]
  readonly subState: string | null
  readonly unitFileState: string | null
  readonly result: string | null
  readonly restarts: bigint | null
  readonly invocation: string | null
  readonly mainPid: number | null
  /** Whether the last main process ended by itself or by a signal; null while it runs and before the first. */
  readonly exit: { readonly by: 'exit' | 'signal'; readonly status: bigint } | null
  /** Milliseconds since the epoch, like the other times. */
  readonly startedAt: number | null
  readonly exitedAt: number | null
  readonly memoryBytes: bigint | null
  readonly cpuSeconds: number | null
  readonly tasks: bigint | null
  readonly lastTriggerAt: number | null
  readonly nextTriggerAt: number | null
}

/** Parses the blocks that `systemctl show UNIT…` prints, in their order. Throws a ParseError. */
export const parseUnits = (text: string): readonly Unit[] => {
  const units = text
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .filter((block) => block !== '')
    .map(parseUnit)
  if (units.length === 0) throw new ParseError('systemctl show', 'Key=Value lines', text)
  return units
}

const parseUnit = (block: string): Unit => {
  const properties = new Map(
    block.split('\n').map((line): [string, string] => {
      const at = line.indexOf('=') // a value may contain one too
      if (at < 1) throw new ParseError('systemctl show', 'Key=Value lines', line)
      return [line.slice(0, at), line.slice(at + 1).trim()]
    }),
  )
  const activeState = ACTIVE_STATES.find((state) => state === properties.get('ActiveState'))
  if (activeState === undefined) {
    throw new ParseError(
      'systemctl show',
      `ActiveState to be one of ${ACTIVE_STATES.join(', ')}`,
      block,
    )
  }
  const textOf = (name: string): string | null => properties.get(name) || null
  const numberOf = (name: string): bigint | null => parseU64(properties.get(name) ?? '') ?? null
  const timeOf = (name: string): number | null => parseSystemdTime(properties.get(name) ?? '')
  const loadState = textOf('LoadState') ?? 'loaded'
  // A unit that systemd does not know still has zeros for its counts: they say nothing.
  const known = loadState !== 'not-found'
  const cpuNanoseconds = numberOf('CPUUsageNSec')
  return {
    unit: textOf('Id'),
    loadState,
    activeState,
    subState: textOf('SubState'),
    unitFileState: textOf('UnitFileState'),
    result: known ? textOf('Result') : null,
    restarts: known ? numberOf('NRestarts') : null,
    invocation: textOf('InvocationID'),
    mainPid: Number(properties.get('MainPID') ?? 0) || null,
    exit: exitOf(properties.get('ExecMainCode'), numberOf('ExecMainStatus')),
    startedAt: timeOf('ExecMainStartTimestamp'),
    exitedAt: timeOf('ExecMainExitTimestamp'),
    memoryBytes: numberOf('MemoryCurrent'),
    cpuSeconds: cpuNanoseconds === null ? null : Number(cpuNanoseconds) / 1e9,
    tasks: numberOf('TasksCurrent'),
    lastTriggerAt: timeOf('LastTriggerUSec'),
    nextTriggerAt: timeOf('NextElapseUSecRealtime'),
  }
}

/** ExecMainCode is waitid's si_code: 1 exited, 2 killed, 3 dumped core; 0 while there is no end to tell of. */
const exitOf = (code: string | undefined, status: bigint | null): Unit['exit'] => {
  if (status === null) return null
  if (code === '1') return { by: 'exit', status }
  return code === '2' || code === '3' ? { by: 'signal', status } : null
}
