import { stringify } from 'yaml'
import { maskAddresses } from '../core/redaction/redact.ts'
import type { Setting } from './load.ts'
import type { ConfigSource } from './source.ts'
import { keys } from './schema.ts'

/** The configuration file in use and how it was chosen, on one line. */
export const describeSource = (source: ConfigSource | null): string =>
  source ? `${source.path} (${source.chosenBy})` : 'none: defaults, environment and flags only'

/** The effective configuration as valid YAML, with the origin of each value. */
export const renderSettings = (settings: readonly Setting[]): string => {
  const placed = settings.map(({ path, value, origin }, index) => {
    const { headings, indent, name } = placeOf(path, settings[index - 1]?.path)
    return { headings, line: `${indent}${name}: ${inlineYaml(maskAddresses(value))}`, origin }
  })
  const width = Math.min(60, Math.max(...placed.map(({ line }) => line.length)))
  return placed.flatMap(({ headings, line, origin }) => [...headings, `${line.padEnd(width)}  # ${origin}`]).join('\n')
}

/** The same as JSON: key → value and origin. */
export const settingsAsJson = (settings: readonly Setting[]) =>
  Object.fromEntries(settings.map(({ path, value, origin }) => [path, { value: maskAddresses(value), origin }]))

/** The place of a key in YAML: the headings of its sections that the key before it is not in, and its indented name. */
const placeOf = (path: string, before = '') => {
  const open = before.split('.').slice(0, -1)
  const sections = path.split('.')
  const name = sections.pop() ?? ''
  const from = sections.findIndex((section, depth) => section !== open[depth])
  const headings = sections.map((section, depth) => `${INDENT.repeat(depth)}${section}:`)
  return { headings: from === -1 ? [] : headings.slice(from), indent: INDENT.repeat(sections.length), name }
}

const INDENT = '  '

/** One value on one line of YAML. */
export const inlineYaml = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false }).trim()

/** Renders config.example.yaml: every key with its description, commented out at its default. */
export const renderExampleConfig = (): string => {
  const lines = [
    '# chain-agent: every key, at its default. `chain-agent run` needs none of them on a standard node.',
    '# A key can also be set by its variable in the environment, or with --set KEY=VALUE; the stronger',
    '# wins: file, then environment, then flag. Durations: 500ms, 2s, 5m, 1h.',
    '# Generated from src/config/schema.ts by `npm run generate`.',
  ]
  for (const [index, { path, variable, description, byDefault }] of keys.entries()) {
    const { headings, indent, name } = placeOf(path, keys[index - 1]?.path)
    const isNested = headings[0]?.startsWith(INDENT) ?? indent !== ''
    if (!isNested) lines.push('')
    lines.push(...headings.map((heading) => `#${heading}`))
    lines.push(`${indent}# ${description} (${variable})`, `#${indent}${name}: ${inlineYaml(byDefault)}`)
  }
  return `${lines.join('\n')}\n`
}
