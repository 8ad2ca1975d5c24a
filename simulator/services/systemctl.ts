import type { SimulatedNode } from '../subject.ts'
import { createGrammar, type Frame, parseArguments, type ParsedArguments, type Tool } from '../tools/tools.ts'
import { missingUnit, readUnits, TIME_STYLES, type Unit } from './units.ts'

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
