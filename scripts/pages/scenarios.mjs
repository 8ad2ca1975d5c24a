// scenarios/README.md: every scenario and every directive.
import { TOKENS } from '../../.cache/modules/simulator/rpc/blocks.js'
import { directives, listScenarios } from '../../.cache/modules/simulator/scenario/scenario.js'

export const renderScenarioPage = async () =>
  [HEAD, ...(await listScenarios()).map(scenarioRow), NOTATION, ...directives.map(row), TAIL].join('\n')

const scenarioRow = ({ name, description, failures, signal, restart }) =>
  `| [${name}](${name}.scenario) | ${failures.join(', ')} | ${description} | ${
    signal === undefined ? '' : `\`${signal}\``
  } | ${restart.length === 0 ? 'safe' : `no: ${restart.join(', ')}`} |`

const row = ({ subject, verb, argument, meaning }) =>
  `| ${subject} | ${argument === undefined ? verb : `${verb} (${argument})`} | ${meaning} |`

const HEAD = `# Scenarios

Generated from \`scenarios/\` and the directives in \`simulator/\` by \`npm run generate\`.

A scenario describes what happens to the simulated node. It changes only the outputs of the node and its host: RPC, tools,
units, journal, metrics and files. The agent cannot detect that it is a simulation.
\`npm run demo -- --scenario NAME\` runs one. The numbers are those of [failures](failures.md); the signal is a PromQL expression
that has no result until the failure can first be detected. The last column is the answer of \`restart-window\` in the 60th
second: safe, or the conditions that prevent a restart, or \`fault\` where a recovery decides about restarts; a test compares it.

| scenario | failure | what happens | signal | restart |
|---|---|---|---|---|`

const NOTATION = `
## File format

\`\`\`
# Consensus is stalled: every process runs, the RPC responds, and there is no new block.
#
# Failure: F1
# Signal: time() - chain_ledger_block_timestamp_seconds{event="proposed"} > 5
# Restart: sync, findings
# Cause: ChainBlockStalled

20s  consensus  stops
60s  consensus  resumes
\`\`\`

The first comment is the description that \`--list\` prints. Each other line is a directive \`TIME SUBJECT VERB [ARGUMENT]\`, in the
order of time: \`500ms\`, \`20s\`, \`5m\`, \`1h\`. A directive at \`0s\` also applies to the time before the start. Comments begin with \`#\`.

| subject | verb | meaning |
|---|---|---|`

const TAIL = `
\`chain-agent demo --scenario NAME\` accepts a scenario of this folder, or the path of your own file.
\`chain-agent simulate\` starts only the node, for use with another agent or with Prometheus.

## Commands in the demo

The demo prints the lines that point a second terminal at it. \`npm run demo -- --shell\` opens a shell with these settings and
stops when the shell exits:

\`\`\`console
$ npm run demo -- --scenario stalled --shell
(demo) $ chain-agent check
\`\`\`

Commands with \`sudo\` run without it: the files of the simulated node belong to you, and \`sudo\` drops the settings.

## Token events

The simulated chain has three token contracts. Their events depend only on the block number, so you can derive the correct
balances by hand:

| contract | standard | blocks divisible by | events in each such block n |
|---|---|---|---|
| \`${TOKENS.erc20}\` | ERC-20, 18 decimals | 5 | mint 10 to FIRST, transfer 4 of them to SECOND, burn 1 of SECOND |
| \`${TOKENS.erc721}\` | ERC-721 | 7 | mint ids 3n, 3n + 1 and 3n + 2 to FIRST, transfer 3n + 1 to SECOND, burn 3n + 2 |
| \`${TOKENS.erc1155}\` | ERC-1155 | 11 | mint 10 of id 1 and 20 of id 2 to FIRST, transfer 4 of id 1 to SECOND, burn 1 of id 1 of SECOND |

FIRST is \`0x\` and 20 times \`a1\`, SECOND is \`0x\` and 20 times \`b2\`. Of any 100 blocks in a row, FIRST gains 120 ERC-20 tokens and SECOND
60. No event moves what was not minted in the same block, so \`balances --created-in N\` is exact for any N.
[Query service](../docs/tutorials/query-service.md) has the commands. The simulated node answers \`eth_call\` for the staking precompile
only, so \`balances --verify\` does not work in the demo.
`
