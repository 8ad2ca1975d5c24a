import { stringify } from 'yaml'
import { maskAddresses } from '../core/redact.ts'
import type { ConfigSource, Setting } from './load.ts'
import { keys } from './schema.ts'

/** The configuration file in use and how it was chosen, on one line. */
export const describeSource = (source: ConfigSource | null): string =>
  source ? `${source.path} (${source.chosenBy})` : 'none: defaults, environment and flags only'

/** The effective configuration as valid YAML, with the origin of each value. */
export const renderSettings = (settings: readonly Setting[]): string => {
  const rows = settings.map(({ path, value, origin }) => ({
    path,
    text: inline(maskAddresses(value)),
    origin,
  }))
  const width = Math.min(60, Math.max(...rows.map(({ path, text }) => lineOf(path, text).length)))
  let section = ''
  return rows
    .flatMap(({ path, text, origin }) => {
      const line = `${lineOf(path, text).padEnd(width)}  # ${origin}`
      const head = path.includes('.') ? (path.split('.')[0] ?? '') : ''
      const heading = head !== '' && head !== section ? [`${head}:`] : []
      section = head
      return [...heading, line]
    })
    .join('\n')
}

/** The same as JSON: key → value and origin. */
export const settingsAsJson = (settings: readonly Setting[]) =>
  Object.fromEntries(settings.map(({ path, value, origin }) => [path, { value: maskAddresses(value), origin }]))

const lineOf = (path: string, text: string): string => {
  const [head = '', tail] = path.split('.')
  return tail === undefined ? `${head}: ${text}` : `  ${tail}: ${text}`
}

/** One value on one line of YAML. */
const inline = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false }).trim()

/** Renders config.example.yaml: every key with its description, commented out at its default. */
export const renderExampleConfig = (): string => {
  const lines = [
    '# chain-agent: every key, at its default. `chain-agent run` needs none of them on a standard node.',
    '# A key can also be set by its variable in the environment, or with --set KEY=VALUE; the stronger',
    '# wins: file, then environment, then flag. Durations: 500ms, 2s, 5m, 1h.',
    '# Generated from src/config/schema.ts by `npm run generate`.',
  ]
  let section = ''
  for (const { path, variable, description, byDefault } of keys) {
    const [head = '', tail] = path.split('.')
    if (tail === undefined || head !== section) lines.push('')
    if (tail !== undefined && head !== section) lines.push(`#${head}:`)
    section = tail === undefined ? '' : head
    const indent = tail === undefined ? '' : '  '
    lines.push(`${indent}# ${description} (${variable})`, `#${indent}${tail ?? head}: ${inline(byDefault)}`)
  }
  return `${lines.join('\n')}\n`
}
