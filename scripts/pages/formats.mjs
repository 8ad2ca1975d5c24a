// src/parsers/README.md: what the agent reads, and the samples that the tests parse.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formats } from '../../.cache/modules/src/parsers/formats.js'

const FIXTURES = new URL('../../test/fixtures/', import.meta.url).pathname

/** Where the samples of a format are, if not in the folder with its name: a folder, and the files in it. */
const SAMPLES = {
  'ledger-tail': ['ledger-tail', /jsonl$/],
  'consensus-log': ['consensus-log', /jsonl$/],
  'execution-log': ['execution-log', /log$/],
  'log-patterns': ['log-patterns', /jsonl$/],
  'chain-mpt': ['mpt', /txt$/],
  'chain-status': ['status', /txt$/],
  chrony: ['host', /^chrony/],
  smartctl: ['host', /^smart/],
  sockets: ['host', /^tcp/],
  validators: ['validators', /^two-epochs/],
}

export const renderFormatsPage = () => `${[HEAD, ...formats.map(row)].join('\n')}\n${FOOT}`

const row = ({ name, help, length, cpuMs }) => {
  const [folder, wanted] = SAMPLES[name] ?? [name, /^(?!expected)/]
  const files = existsSync(join(FIXTURES, folder))
    ? readdirSync(join(FIXTURES, folder)).filter((file) => wanted.test(file))
    : []
  return `| \`${name}\` | ${help} | ${length / 1024} KiB, ${cpuMs} ms | ${files
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
Formats without a sample here are tested with texts in the test itself. \`At most\`: the longest document or line that the agent parses, and the CPU time that
the worst one of this length takes on a core at 2.6 GHz; a test measures each.

| Format | Input | At most | Samples |
| --- | --- | --- | --- |`

const FOOT = `
Versions: the ledger stream since v0.9, the consensus log since v0.11, the execution log, the storage tool and the status report since v0.10. A line of a known kind that cannot be parsed counts in \`chain_agent_lines_total{result="unparsed"}\` and fires ChainLogsIncomplete.format.

## Closed lists

A value that is not in its list is of a later version. It counts as an unparsed line of its format at each reading, and the log of the agent has one
line with the value. What is exported in its place:

| Value | Format | Without a known value |
| --- | --- | --- |
| \`triedb_migration_phase\` and \`statesync_syncing\` of consensus | \`prometheus\` | the metric is absent |
| ActiveState of a unit | \`systemctl\` | \`chain_service_state{state="other"}\` |
| LoadState, UnitFileState, ExecMainCode of a unit | \`systemctl\` | as loaded; as not enabled; no exit status |
| Result of a service, polled and in the journal | \`systemctl\` | \`chain_service_exits_total{result="other"}\` |
| kind of state machine of a timeline | \`chain-mpt\` | the kind as reported; \`chain_fork_ready{check="timeline"}\` is absent |
| \`activated\` of the cleanup | \`chain-status\` | the metric is absent |
| leap status of chrony | \`chrony\` | the metrics of the clock are absent |
| flags of the validator | \`staking\` | the known flags |
| message of the ledger stream at INFO, or at an unknown level | \`ledger-tail\` | the line is unparsed |
| level of a known message, kind of a certificate | \`consensus-log\` | the line is unparsed |
| number of the timeline | \`execution-log\` | the line is unparsed |
| status of the package | \`dpkg\` | the package is unknown |

The words for the state of consensus, its mode, the RPC and the services in the status report are not documented: any word other than the healthy one is
unhealthy, and is logged as reported. Levels of other log lines are not in this list, because journalctl selects the known ones.
`
