import { ParseError } from '../core/errors.ts'
import { type Quantity, withinBounds } from '../core/bounds.ts'
import { parseU64 } from '../core/units.ts'
import { unknownValue } from '../core/unknown-values.ts'

const ACTIVE_STATES = [
  'active',
  'reloading',
  'inactive',
  'failed',
  'activating',
  'deactivating',
  'maintenance',
] as const

const wordsOf = (text: string): readonly string[] => text.split(/\s+/)

/** The values of systemd 258, beyond those of ActiveState: its lists grow with its versions. */
const KNOWN_VALUES = {
  LoadState: ['stub', 'loaded', 'not-found', 'bad-setting', 'error', 'merged', 'masked'],
  ActiveState: [...ACTIVE_STATES, 'refreshing'],
  UnitFileState: wordsOf(`enabled enabled-runtime linked linked-runtime alias masked masked-runtime static disabled
    indirect generated transient bad`),
  // The si_code of waitid.
  ExecMainCode: ['0', '1', '2', '3', '4', '5', '6'],
}

/** The properties that `parseUnits` reads. Request them by name: other properties contain secrets (ExecStart). */
export const UNIT_PROPERTIES = wordsOf(`Id LoadState ActiveState SubState UnitFileState Result NRestarts InvocationID
  MainPID ExecMainCode ExecMainStatus ExecMainStartTimestamp ExecMainExitTimestamp ControlGroup MemoryCurrent CPUUsageNSec
  TasksCurrent LastTriggerUSec NextElapseUSecRealtime`)

/**
 * A unit as systemd reports it. Null is a property that is empty, unknown, or meaningless because the unit does not
 * exist.
 */
export type Unit = ReturnType<typeof parseUnit>

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

const parseUnit = (block: string) => {
  const properties = new Map(
    block.split('\n').map((line): [string, string] => {
      const at = line.indexOf('=') // a value may contain `=` too
      if (at < 1) throw new ParseError('systemctl show', 'Key=Value lines', line)
      return [line.slice(0, at), line.slice(at + 1).trim()]
    }),
  )
  const state = properties.get('ActiveState')
  if (!state) throw new ParseError('systemctl show', 'ActiveState', block)
  // Since systemd 257 an active unit may be refreshing. A later version may have more states.
  const activeState = ACTIVE_STATES.find((known) => known === state.replace('refreshing', 'reloading')) ?? 'other'
  const textOf = (name: string): string | null => properties.get(name) || null
  const numberOf = (name: string, quantity: Quantity = 'u64'): bigint | null =>
    withinBounds(quantity, parseU64(properties.get(name) ?? ''))
  const timeOf = (name: string): number | null => parseSystemdTime(properties.get(name) ?? '')
  const loadState = textOf('LoadState') ?? 'loaded'
  // systemd reports zero counts for a unit that does not exist; they mean nothing.
  const known = loadState !== 'not-found'
  const cpuNanoseconds = numberOf('CPUUsageNSec')
  return {
    unit: textOf('Id'),
    loadState,
    activeState,
    subState: textOf('SubState'),
    unitFileState: textOf('UnitFileState'),
    result: known ? textOf('Result') : null,
    restarts: known ? numberOf('NRestarts', 'restarts') : null,
    invocation: textOf('InvocationID'),
    mainPid: parsePid(properties.get('MainPID') ?? ''),
    /** How the last main process ended; null while it runs and before the first start. */
    exit: exitOf(properties.get('ExecMainCode'), numberOf('ExecMainStatus', 'exitStatus')),
    /** Milliseconds since the epoch, like the other times. */
    startedAt: timeOf('ExecMainStartTimestamp'),
    exitedAt: timeOf('ExecMainExitTimestamp'),
    /** Below the root of the control groups; null for a unit without processes. */
    controlGroup: textOf('ControlGroup'),
    memoryBytes: numberOf('MemoryCurrent', 'bytes'),
    cpuSeconds: cpuNanoseconds === null ? null : Number(cpuNanoseconds) / 1e9,
    tasks: numberOf('TasksCurrent', 'tasks'),
    lastTriggerAt: timeOf('LastTriggerUSec'),
    nextTriggerAt: timeOf('NextElapseUSecRealtime'),
    /** Null for the default journal. */
    logNamespace: textOf('LogNamespace'),
    /** The type, `journal` or `append`: systemctl does not show the path of a file. */
    standardOutput: textOf('StandardOutput'),
    unknownValues: Object.entries(KNOWN_VALUES).flatMap(([name, expected]) =>
      unknownValue(`${name} of systemd`, textOf(name), expected),
    ),
  }
}

/** Null for 0: no main process. The kernel's ids have up to 22 bits. */
const parsePid = (text: string): number | null => (/^\d{1,7}$/.test(text) && Number(text)) || null

/** ExecMainCode is the si_code of waitid: 1 exited, 2 killed, 3 dumped core; 0 if the process has not ended. */
const exitOf = (
  code: string | undefined,
  status: bigint | null,
): { readonly by: 'exit' | 'signal'; readonly status: bigint } | null => {
  if (status === null) return null
  if (code === '1') return { by: 'exit', status }
  return code === '2' || code === '3' ? { by: 'signal', status } : null
}

const STAMP = /^[A-Z][a-z]{2} (\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(\.\d{1,6})? UTC$/

/**
 * A systemd timestamp in milliseconds since the epoch: `Wed 2026-09-09 10:41:07.123456 UTC` or `@1788231600`. Null for
 * "never" (empty, `n/a`, 0, the year 9999) and for other time zones: their abbreviations are ambiguous, which is why systemctl is run
 * with TZ=UTC.
 */
export const parseSystemdTime = (text: string): number | null => {
  const [, epoch] = /^@(\d{1,11}(?:\.\d{1,6})?)$/.exec(text) ?? []
  const [, date, time, fraction = ''] = STAMP.exec(text) ?? []
  const milliseconds =
    epoch === undefined ? Date.parse(`${date}T${time}${fraction.slice(0, 4)}Z`) : Number(epoch) * 1000
  return withinBounds('unixMilliseconds', milliseconds)
}

/** The properties that `parseUnitFiles` reads. None of them contains a line of a unit file. */
export const UNIT_FILE_PROPERTIES = ['Id', 'LoadState', 'FragmentPath', 'DropInPaths', 'NeedDaemonReload'] as const

/** The files from which systemd loaded a unit. */
export type UnitFiles = ReturnType<typeof parseUnitFiles>[number]

/** Parses the blocks of `systemctl show`. Blocks without an Id are skipped. */
export const parseUnitFiles = (text: string) =>
  text.split(/\n{2,}/).flatMap((block) => {
    const properties = new Map(
      block.split('\n').flatMap((line): readonly (readonly [string, string])[] => {
        const at = line.indexOf('=')
        return at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1).trim()]]
      }),
    )
    const unit = properties.get('Id')
    if (!unit) return []
    const outdated = properties.get('NeedDaemonReload')
    return [
      {
        unit,
        isLoaded: properties.get('LoadState') === 'loaded',
        /** Null if systemd reports none. */
        fragment: properties.get('FragmentPath') || null,
        dropIns: (properties.get('DropInPaths') ?? '').split(' ').filter((path) => path !== ''),
        /** Whether a file has changed since systemd loaded it; null if systemd does not report it. */
        isOutdated: outdated === 'yes' ? true : outdated === 'no' ? false : null,
      },
    ]
  })

/** The lines of a unit file with their sections, without those that systemd ignores: a name that begins with X-. */
export const unitLines = (text: string): readonly { readonly section: string; readonly line: string }[] => {
  let section = ''
  return logicalLines(text).flatMap((line) => {
    section = /^\s*\[([^\]]+)\]\s*$/.exec(line)?.[1] ?? section
    return section.startsWith('X-') ? [] : [{ section, line }]
  })
}

/** The lines without comments, each with those that continue it: it ends with a backslash that no other one escapes. */
const logicalLines = (text: string): readonly string[] => {
  const lines: string[] = []
  let continues = false
  for (const line of text.split(/\r?\n|\r/)) {
    // A comment between two parts of a continued line does not end it.
    if (/^\s*[#;]/.test(line)) continue
    const isContinued = (/\\*$/.exec(line)?.[0].length ?? 0) % 2 === 1
    const part = isContinued ? `${line.slice(0, -1)} ` : line
    if (continues) lines.push(`${lines.pop() ?? ''}${part}`)
    else lines.push(part)
    continues = isContinued
  }
  return lines
}

/** Whether the command of a unit creates an event ring in the hugetlbfs that it finds: it has the option, and no path. */
export const needsHugePageMount = (shown: string): boolean => {
  const [, value = ''] = /--exec-event-ring(?:[= ](?!-)([^\s;]+))?(?=[\s;]|$)/.exec(shown) ?? ['', '/']
  return !value.includes('/')
}
