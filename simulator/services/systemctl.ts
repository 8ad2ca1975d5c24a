import type { SimulatedNode } from '../subject.ts'
import { createGrammar, type Frame, parseArguments, type ParsedArguments, type Tool } from '../tools/tools.ts'
import { missingUnit, readUnits, renderProperties, timeStyle, type Unit } from './units.ts'

/** The simulated systemctl: read-only commands. */
export const createSystemctl =
  (node: SimulatedNode): Tool =>
  (argv) => {
    const read = parseArguments(GRAMMAR, argv)
    if (typeof read === 'string') return fail(`systemctl: ${read}`)
    const [verb = 'list-units', ...names] = read.operands
    const command = COMMANDS[verb]
    if (!command) return fail(`Unknown command verb ${verb}.`)
    return command({ units: readUnits(node), names, options: read.options })
  }

interface Call {
  readonly units: ReadonlyMap<string, Unit>
  readonly names: readonly string[]
  readonly options: ParsedArguments['options']
}

const GRAMMAR = createGrammar(
  'p,property= P= value timestamp= o,output= t,type= a,all l,full plain q,quiet system no-pager no-legend',
)

const show = ({ units, names, options }: Call): readonly Frame[] => {
  const style = timeStyle(options.get('timestamp')?.at(-1) ?? 'pretty')
  if (!style) return fail('Failed to parse timestamp style: Invalid argument')
  const properties = [...(options.get('property') ?? []), ...(options.get('P') ?? [])]
    .flatMap((list) => list.split(','))
    .filter((name) => name !== '')
  const bare = options.has('value') || options.has('P')
  const blocks = names.map((name) => {
    const id = withSuffix(name)
    return renderProperties(units.get(id) ?? missingUnit(id), style)
      .filter(([property]) => properties.length === 0 || properties.includes(property))
      .map(([property, value]) => (bare ? `${value}\n` : `${property}=${value}\n`))
      .join('')
  })
  return [{ stdout: blocks.join('\n') }, { exit: 0 }]
}

const isActive = ({ units, names }: Call): readonly Frame[] => {
  const states = names.map((name) => units.get(withSuffix(name))?.activeState ?? 'inactive')
  return [{ stdout: lines(states) }, { exit: states.includes('active') ? 0 : 3 }]
}

const listUnitFiles = (call: Call): readonly Frame[] => {
  const rows = chosen(call).map(({ id, fileState }) => ({
    unit_file: id,
    state: fileState,
    preset: fileState === 'static' ? '-' : 'enabled',
  }))
  const table = renderTable(['UNIT FILE', 'STATE', 'PRESET'], rows.map(Object.values))
  const frames = list(call, { rows, table, what: 'unit files' })
  return [...frames, { exit: rows.length === 0 && call.names.length > 0 ? 1 : 0 }]
}

const listUnits = (call: Call): readonly Frame[] => {
  const rows = chosen(call)
    .filter(({ activeState }) => call.options.has('all') || activeState !== 'inactive')
    .map((unit) => ({
      unit: unit.id,
      load: unit.loadState,
      active: unit.activeState,
      sub: unit.subState,
      description: unit.description,
    }))
  const table = renderTable(['UNIT', 'LOAD', 'ACTIVE', 'SUB', 'DESCRIPTION'], rows.map(Object.values))
  return [...list(call, { rows, table, what: 'loaded units' }), { exit: 0 }]
}

const listTimers = (call: Call): readonly Frame[] => {
  const time = timeStyle('pretty')
  const timers = chosen(call).filter(({ kind }) => kind === 'timer')
  const rows = timers.map(({ id, nextMs = 0, triggeredMs = 0 }) => ({
    next: nextMs * 1000,
    left: nextMs * 1000,
    last: triggeredMs * 1000,
    passed: triggeredMs * 1000,
    unit: id,
    activates: id.replace('.timer', '.service'),
  }))
  const cells = timers.map(({ id, nextMs, triggeredMs }) => [
    time?.(nextMs) ?? '',
    '-',
    time?.(triggeredMs) ?? '',
    '-',
    id,
    id.replace('.timer', '.service'),
  ])
  const table = renderTable(['NEXT', 'LEFT', 'LAST', 'PASSED', 'UNIT', 'ACTIVATES'], cells)
  return [...list(call, { rows, table, what: 'timers' }), { exit: 0 }]
}

const COMMANDS: Readonly<Record<string, (call: Call) => readonly Frame[]>> = {
  show,
  'is-active': isActive,
  'is-system-running': () => [{ stdout: 'running\n' }, { exit: 0 }],
  'list-unit-files': listUnitFiles,
  'list-units': listUnits,
  'list-timers': listTimers,
}

/** The units that match the patterns; all units if there are no patterns. */
const chosen = ({ units, names, options }: Call): readonly Unit[] => {
  const patterns = names.map(globPattern)
  const type = options.get('type')?.at(-1)
  return [...units.values()]
    .filter(({ id }) => patterns.length === 0 || patterns.some((pattern) => pattern.test(id)))
    .filter(({ kind }) => type === undefined || type === kind)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

const list = (
  { options }: Call,
  { rows, table, what }: { readonly rows: readonly object[]; readonly table: readonly string[]; readonly what: string },
): readonly Frame[] => {
  const output = options.get('output')?.at(-1) ?? ''
  if (output.startsWith('json')) return [{ stdout: `${JSON.stringify(rows)}\n` }]
  if (options.has('no-legend')) return [{ stdout: lines(table.slice(1)) }]
  return [{ stdout: `${lines(table)}\n${rows.length} ${what} listed.\n` }]
}

const withSuffix = (name: string): string => (name.includes('.') ? name : `${name}.service`)

const globPattern = (glob: string): RegExp => {
  const escaped = withSuffix(glob).replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`)
}

const lines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('')

const fail = (message: string): readonly Frame[] => [{ stderr: `${message}\n` }, { exit: 1 }]

/** A table as systemctl prints it: header first, columns as narrow as possible. */
const renderTable = (head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] => {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(' ')
      .trimEnd(),
  )
}
