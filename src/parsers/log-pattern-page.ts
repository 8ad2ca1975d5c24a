import { LOG_PATTERNS, type LogPattern } from './log-pattern-list.ts'

/** The text of docs/patterns.md: what lines of the logs mean, and what to do. */
export const renderPatternPage = (): string => `${[HEAD, ...LOG_PATTERNS.map(chapter)].join('\n')}\n`

const SERVICE_NAMES = {
  bft: 'consensus',
  execution: 'execution',
  cruft: 'the cleanup',
  any: 'any program of the node',
} as const

const chapter = ({ name, services, severity, text, meaning, advice }: LogPattern): string => `
## ${name}

*${severity}*, SERVICE_NAMES[speaker]).join(' and ')} => logged by ${services.map((service) => SERVICE_NAMES[service]).join(' and ')} => SERVICE_NAMES[speaker]).join(' and ')}: ${asCode(text)}

${meaning}

What to do: ${advice}`

/** Two backquotes around text that contains one. */
const asCode = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``)

const HEAD = `# Patterns

Generated from \`src/parsers/log-pattern-list.ts\` by \`npm run generate\`.

Lines of the node's logs that an operator should know. Each counts in \`chain_log_pattern_total{service,pattern}\`.
The agent also logs *critical* and *warning* lines of the last ten minutes, the critical ones with their text; *info* lines are
only counted. The expression matches the beginning of the text after the logger's prefix.

The line after an assertion, an abort or a panic gives the reason; if that line matches a pattern too, it is counted as well.
Errors that a program caught (\`… assert throw\`) are not counted.`
