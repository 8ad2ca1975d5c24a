import type { LogPattern } from './log-pattern.ts'
import { LOG_PATTERNS } from './log-patterns.ts'

/** The text of docs/patterns.md: what lines of the logs mean, and what to do. */
export const renderPatternPage = (): string =>
  `${[HEAD, ...LOG_PATTERNS.map(chapter)].join('\n')}\n`

const SPEAKERS = {
  bft: 'consensus',
  execution: 'execution',
  cruft: 'the clean-up',
  any: 'any program of the node',
} as const

const chapter = ({ name, speakers, severity, text, means, advice }: LogPattern): string => `
## ${name}

*${severity}*, said by ${speakers.map((speaker) => SPEAKERS[speaker]).join(' and ')}: ${asCode(text)}

${means}

What to do: ${advice}`

/** Two quotes around what has one in it. */
const asCode = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``)

const HEAD = `# Patterns

Generated from \`src/parsers/log-patterns.ts\` by \`npm run generate\`.

Lines of the node's logs that an operator should know. Each counts in \`chain_log_pattern_total{service,pattern}\`.
*critical* and *warning* lines of the last ten minutes stand in the log of the agent, too, the critical ones with what they
said; *info* is counted alone. The expression is what the text begins with, behind what a logger puts before it.

An assertion, an abort or a panic tells why on its next line, which counts as a pattern of its own where it is one. What a
program caught and went on from (\`… assert throw\`) is no pattern.`
