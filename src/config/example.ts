import { keys } from './keys.ts'
import { inline } from './render.ts'

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
