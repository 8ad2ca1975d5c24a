import type { Scenario } from './scenario.ts'
import { listScenarios } from './scenarios.ts'
import { vocabulary } from './vocabulary.ts'

/** The text of docs/scenarios.md: every scenario there is, and every word that one may use. */
export const renderScenarioPage = async (): Promise<string> =>
  [HEAD, ...(await listScenarios()).map(scenarioRow), NOTATION, ...vocabulary.map(row), TAIL].join(
    '\n',
  )

const scenarioRow = ({ name, description, failures, signal }: Scenario): string =>
  `| [${name}](../scenarios/${name}.scenario) | ${failures.join(', ')} | ${description} | ${
    signal === undefined ? '' : `\`${signal}\``
  } |`

const row = ({ subject, verb, argument, means }: (typeof vocabulary)[number]): string =>
  `| ${subject} | ${argument === undefined ? verb : `${verb} (${argument})`} | ${means} |`

const HEAD = `# Scenarios

Generated from \`scenarios/\` and \`src/simulator/scenario/vocabulary.ts\` by \`npm run generate\`.

A scenario tells what befalls the simulated node. It changes only what the node *says*: its RPC, its tools, its units,
its journal, its own metrics, its files and what its host tells; the agent does not know that it is a rehearsal.
\`npm run demo -- --scenario NAME\` shows one. The numbers are those of [failures](failures.md); the signal is a PromQL expression
that is empty until the failure can first be seen.

| scenario | failure | what happens | seen first |
|---|---|---|---|`

const NOTATION = `
## The notation

\`\`\`
# Consensus stalls: every process runs, RPC answers, and no block comes any more.
#
# Failure: F1
# Signal: time() - chain_ledger_block_timestamp_seconds{event="proposed"} > 5

20s  consensus  stops
60s  consensus  resumes
\`\`\`

The first comment is the description that \`--list\` shows. Then come lines \`TIME SUBJECT VERB [ARGUMENT]\`, in the order of
time: \`500ms\`, \`20s\`, \`5m\`, \`1h\`. What holds at \`0s\` has always held. Comments stand behind \`#\`.

| subject | verb | what it means |
|---|---|---|`

const TAIL = `
\`chain-agent demo --scenario NAME\` takes one of [scenarios/](../scenarios), or the path of a file of yours.
\`chain-agent simulate\` starts the node alone, to point another agent or a Prometheus at.
`
