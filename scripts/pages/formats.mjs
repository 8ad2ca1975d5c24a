// docs/reference/formats.md: what the agent reads, and the samples that the tests parse.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formats } from '../../.cache/modules/parsers/formats.js'

const FIXTURES = new URL('../../test/fixtures/', import.meta.url).pathname

/** Where the samples of a format are: a folder, and the files in it. */
const SAMPLES = {
  'ledger-tail': ['ledger-tail', /jsonl$/],
  'consensus-log': ['consensus-log', /jsonl$/],
  'execution-log': ['execution-log', /log$/],
  'log-patterns': ['log-patterns', /jsonl$/],
  'chain-mpt': ['mpt', /txt$/],
  'chain-status': ['status', /txt$/],
  'node-version': ['node-version', /txt$/],
  prometheus: ['prometheus', /txt$/],
  keystore: ['keystore', /^(?!expected)/],
  chrony: ['host', /^chrony/],
  smartctl: ['host', /^smart/],
  sockets: ['host', /^tcp/],
  monlog: ['monlog', /txt$/],
}

export const renderFormatsPage = () => `${[HEAD, ...formats.map(row)].join('\n')}\n${FOOT}`

const row = ({ name, help }) => {
  const [folder, wanted] = SAMPLES[name] ?? []
  const files = folder === undefined ? [] : readdirSync(join(FIXTURES, folder)).filter((file) => wanted.test(file))
  return `| \`${name}\` | ${help} | ${files
    .toSorted()
    .map((file) => sampleOf(join(FIXTURES, folder, file), file))
    .join(', ')} |`
}

/** The name of a file says which version wrote it; a file of lines has one line of each kind and version. */
const sampleOf = (path, file) =>
  /\.(?:jsonl|log)$/.test(file)
    ? `${readFileSync(path, 'utf8').trimEnd().split('\n').length} lines`
    : file.replace(/\.\w+$/, '')

const HEAD = `# Formats

Generated from the parsers and \`test/fixtures\` by \`npm run generate\`.

What the agent and its commands read. \`chain-agent parse FORMAT [FILE]\` prints what a parser makes of a file, as JSON. Lines may have the prefix
that journalctl prints (\`May 02 08:00:01 host program[7]: \`). The samples are written as the tools print them, with invented values; a test parses each.
Formats without a sample here are tested with texts in the test itself.

| Format | Input | Samples |
| --- | --- | --- |`

const FOOT = `
Versions: the ledger stream since v0.9, the consensus log since v0.11, the execution log, the storage tool and the status report since v0.10, each
up to v0.16. A line of a known kind that cannot be parsed counts in \`chain_agent_lines_total{result="unparsed"}\` and fires ChainFormatDrift.
`
