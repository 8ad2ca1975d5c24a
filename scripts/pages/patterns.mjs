// Generates docs/patterns.md.
import { LOG_PATTERNS } from '../../dist/parsers/log-pattern-list.js'

/** The text of docs/patterns.md: what lines of the logs mean, and what to do. */
export const renderPatternPage = () => `${[HEAD, ...LOG_PATTERNS.map(chapter)].join('\n')}\n`

const SERVICE_NAMES = {
  bft: 'consensus',
  execution: 'execution',
  cruft: 'the cleanup',
  any: 'any program of the node',
}

const chapter = ({ name, services, severity, text, meaning, advice }) => `
## ${name}

*${severity}*, logged by ${services.map((service) => SERVICE_NAMES[service]).join(' and ')}: ${asCode(text)}

${meaning}

What to do: ${advice}`

/** Two backquotes around text that contains one. */
const asCode = (text) => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``)

const HEAD = `# Patterns

Generated from \`src/parsers/log-pattern-list.ts\` by \`npm run generate\`.

Lines of the node's logs that an operator should know. Each counts in \`chain_log_pattern_total{service,pattern}\`.
The agent also logs *critical* and *warning* lines of the last ten minutes, the critical ones with their text; *info* lines are
only counted. The expression matches the beginning of the text after the logger's prefix.

The line after an assertion, an abort or a panic gives the reason; if that line matches a pattern too, it is counted as well.
Errors that a program caught (\`… assert throw\`) are not counted.`
