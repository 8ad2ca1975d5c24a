// Compares the log patterns, parsers, metrics and facts of the agent with clones of the node's source.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ALL_NODE_METRICS } from '../.cache/modules/src/collectors/native/node-metrics.js'
import { NODE_FACTS } from '../.cache/modules/src/domain/node-facts.js'
import { MESSAGES, VARIABLE_MESSAGES } from '../.cache/modules/src/parsers/consensus-messages.js'
import { patternsOf } from '../.cache/modules/src/parsers/log-patterns/classify.js'
import { LOG_PATTERNS } from '../.cache/modules/src/parsers/log-patterns/list.js'
import { CloneError, openClone } from './compare-source/clone.mjs'
import { compareDefinitions, createSourceIndex } from './compare-source/compare.mjs'
import { EXECUTION_LINES, factsWith, withSource } from './compare-source/node-source.mjs'
import { readRecord, writeRecord } from './compare-source/record.mjs'
import { renderText } from './compare-source/render.mjs'
import { listReports } from './compare-source/reports.mjs'

const HELP = `Usage: npm run --silent compare-source -- [options] CLONE [CLONE]

Compares the log patterns, the parsed messages, the metrics and the facts of the
agent with clones of the node's source, monad-bft and monad. Prints what the
source no longer has or has in another function, and how many warnings, errors
and ends of the process no pattern names, by crate, with those that are new.

A clone is DIRECTORY or DIRECTORY@REF; without a ref, HEAD. It needs no work tree.

Options:
  --all              list every text without a name
  --json             print the result as JSON
  --record           write the texts without a name to the record
  --recorded FILE    the record (default: scripts/compare-source/recorded.txt)
  --help             print this text

Exit status: 0 nothing is gone, moved or new; 1 something is; 2 a usage error,
or a directory that is not a clone of the node's source.

Examples:
  npm run --silent compare-source -- ~/src/monad-bft ~/src/monad
  npm run --silent compare-source -- --record ~/src/monad-bft@v0.17.0
`

const RECORD = fileURLToPath(new URL('compare-source/recorded.txt', import.meta.url))

class UsageError extends Error {}

const readArguments = () => {
  const options = {
    all: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    recorded: { type: 'string', default: RECORD },
    help: { type: 'boolean', default: false },
  }
  try {
    return parseArgs({ allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(error.message, { cause: error })
  }
}

const escaped = (text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)

const DEFINITIONS = {
  patterns: LOG_PATTERNS.map((pattern) => withSource('patterns', pattern.name, pattern)),
  messages: [
    ...[...MESSAGES.keys()].map((name) =>
      withSource('messages', name, { expression: `${escaped(name)}$`, service: 'bft' }),
    ),
    ...VARIABLE_MESSAGES.map(([{ source: name }]) =>
      withSource('messages', name, { expression: name, service: 'bft' }),
    ),
    ...EXECUTION_LINES.map((line) => ({ ...line, expression: escaped(line.name), service: 'execution' })),
  ],
  metrics: ALL_NODE_METRICS.map((metric) => withSource('metrics', metric.name, metric)),
  facts: factsWith(NODE_FACTS),
}

const places = Object.values(DEFINITIONS).flatMap((list) => list.flatMap(({ sources }) => sources))

const openClones = (names) => {
  const clones = names.map((name) => openClone(name, new Set(places.map(({ file }) => file))))
  const [first, second] = clones
  if (second && first.repository === second.repository) {
    throw new UsageError(`both clones are of ${first.repository}; expected one of monad-bft and one of monad`)
  }
  return clones
}

const compare = (names, file) => {
  const clones = openClones(names)
  const index = createSourceIndex(new Map(clones.flatMap(({ files }) => [...files])))
  const record = readRecord(file)
  const keyOf = ({ name, text }) => `${name} ${text}`
  const findings = compareDefinitions(index, DEFINITIONS)
  const alternatives = findings.filter(({ kind }) => kind === 'alternative')
  const reports = listReports(index, { patternsOf, messages: DEFINITIONS.messages })
  const unnamed = reports.filter(({ text, name }) => text !== null && name === null)
  return {
    record,
    result: {
      commits: Object.fromEntries(clones.map(({ repository, commit }) => [repository, commit])),
      recorded: Object.fromEntries(record.commits),
      compared: Object.fromEntries(Object.entries(DEFINITIONS).map(([what, list]) => [what, list.length])),
      findings: findings.filter((one) => one.kind !== 'alternative' || !record.alternatives.has(keyOf(one))),
      reports,
      unnamed,
      new: unnamed.filter(({ place, hash }) => !record.hashes.has(`${place} ${hash}`)),
    },
    toRecord: {
      commits: new Map(clones.map(({ repository, commit }) => [repository, commit])),
      alternatives: new Set([...(clones.length < 2 ? record.alternatives : []), ...alternatives.map(keyOf)]),
      unnamed,
    },
  }
}

const main = () => {
  const { values, positionals } = readArguments()
  if (values.help) return process.stdout.write(HELP)
  if (positionals.length < 1 || positionals.length > 2) {
    throw new UsageError(`expected one or two clones of the node's source, got ${positionals.length}; see --help`)
  }
  const { record, result, toRecord } = compare(positionals, values.recorded)
  if (values.record) writeRecord(values.recorded, record, toRecord)
  const { reports: _, ...shown } = result
  process.stdout.write(values.json ? `${JSON.stringify(shown)}\n` : renderText(result, values))
  const isNew = !values.record && result.new.length > 0
  process.exitCode = isNew || result.findings.some(({ kind }) => !values.record || kind !== 'alternative') ? 1 : 0
}

try {
  main()
} catch (error) {
  if (!(error instanceof UsageError || error instanceof CloneError)) throw error
  console.error(`compare-source: ${error.message}`)
  process.exitCode = 2
}
