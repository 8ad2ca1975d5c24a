// src/parsers/log-patterns/README.md: what lines of the node's logs mean, and what to do.
import { linkToDocument } from './node-documentation.mjs'
import { withSource } from '../compare-source/node-source.mjs'
import { LOG_SUBJECTS } from '../../.cache/modules/src/parsers/log-patterns/list.js'
import { readFileSync } from 'node:fs'
import { parseConsensusLine } from '../../.cache/modules/src/parsers/consensus-log.js'
import { classifyLine, patternsOf } from '../../.cache/modules/src/parsers/log-patterns/classify.js'

export const renderPatternPage = () => `${[HEAD, coverage(), ...LOG_SUBJECTS.map(subject)].join('\n')}\n`

const PROGRAMS = { bft: 'consensus', rpc: 'RPC', execution: 'execution' }

const coverage = () => {
  const all = recognisedMessages()
  const row = ([service, program]) => {
    const own = all.filter((message) => message.service === service)
    const known = own.filter(({ name }) => name !== null)
    const asking = own.filter(({ asks }) => asks)
    const share = asking.filter(({ name }) => name !== null).length / asking.length
    return `| ${program} | ${own.length} | ${known.length} | ${Math.floor(share * 100)} % of ${asking.length} | ${own.length - known.length} |`
  }
  return [COVERAGE, ...Object.entries(PROGRAMS).map(row)].join('\n')
}

const COVERAGE = `
## Coverage

The distinct warnings and errors in the source of each program (of 2026-08-21, and the refusals to start), from
\`test/fixtures/log-patterns/messages.tsv\`. Most of those without a name are bad messages of single peers, which need no action. Of assertions,
aborts and panics every one is recognised as such.

| Program | Messages | Recognised by name | Of those that ask an operator to act | Counted by level only |
| --- | --: | --: | --: | --: |`

const subject = ({ title, patterns }) =>
  [`\n## ${title}`, ...patterns.map((pattern) => chapter(withSource('patterns', pattern.name, pattern)))].join('\n')

const SERVICE_NAMES = {
  bft: 'consensus',
  execution: 'execution',
  rpc: 'the RPC',
  cruft: 'the cleanup',
  any: 'any program of the node',
}

const chapter = ({
  name,
  services,
  severity,
  text,
  meaning,
  advice,
  sources,
  notInSource,
  endsProcess,
  documents = [],
}) => `
### ${name}

*${severity}*, in the log of ${services.map((service) => SERVICE_NAMES[service]).join(' and ')}: ${asCode(text)}

${meaning}

What to do: ${advice}

Cause: ${causes(sources)}. The process ${endsProcess ? 'has ended' : 'continues'}. Logged by ${sources.length === 0 ? notInSource : placesOf(sources)}.${documents.length === 0 ? '' : `\n\nSource: ${documents.map(linkToDocument).join(', ')}`}`

const causes = (sources) => [...new Set(sources.map(({ cause }) => cause))].join(', ') || 'own'

/** Each file once, with its functions. */
const placesOf = (sources) =>
  [...new Set(sources.map(({ file }) => file))]
    .map(
      (file) =>
        `\`${file}\`: ${sources
          .filter((one) => one.file === file)
          .map((one) => `\`${one.function}\``)
          .join(', ')}`,
    )
    .join('; ')

/** Two backquotes around text that contains one. */
const asCode = (text) => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``)

const HEAD = `# Patterns

Generated from \`src/parsers/log-patterns\` by \`npm run generate\`.

Lines of the node's logs that an operator should know. Each counts in \`chain_log_pattern_total{service,pattern}\`.
The agent also logs *critical* and *warning* lines of the last ten minutes, the critical ones with their text; *info* lines are
only counted. The expression matches the beginning of the text after the logger's prefix.

The line after an assertion, an abort or a panic gives the reason; if that line matches a pattern too, it is counted as well.
Errors that a program caught (\`… assert throw\`) are not counted.

Each pattern has its place in the node's public source of 2026-08-21 (\`monad-bft\` and \`monad\` of
<https://github.com/category-labs>). Cause *own*: the state of this node; *received*: messages of other nodes alone can cause the line, so it is
never critical. *Has ended*: the process that logs the line has ended or ends at once, so it is always critical.`

const LIST = new URL('../../test/fixtures/log-patterns/messages.tsv', import.meta.url)

/** A message as its program writes it, with a value in each placeholder. */
const lineOf = ({ service, crate, level, message }) => {
  const text = message.replaceAll(/\{[^}]*\}/g, '7')
  if (level === 'none') return text
  const word = level.toUpperCase()
  if (service === 'execution') return `2026-05-02 08:00:00.123456789 [7] a.cpp:1 LOG_${word}\t${text}`
  return JSON.stringify({
    timestamp: '2026-05-02T08:00:00.000123Z',
    level: word,
    fields: { message: text },
    target: `chain_${crate.replaceAll('-', '_')}::module`,
  })
}

/** The analysis of the consensus log knows some messages that have no pattern. */
const eventOf = (service, line) => {
  const event = service === 'bft' ? parseConsensusLine(line)?.event : undefined
  return event === undefined || event === 'other' ? null : event
}

/** Every message of the list with the pattern or event that recognises it; `null` if only its level is counted. */
const recognisedMessages = () =>
  readFileSync(LIST, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((row) => {
      const [service, crate, level, asks, message] = row.split('\t')
      const line = lineOf({ service, crate, level, message })
      const [pattern] = classifyLine(patternsOf(service), line).patterns
      return { service, level, asks: asks === 'act', message, name: pattern?.name ?? eventOf(service, line) }
    })
