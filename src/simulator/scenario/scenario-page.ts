import { vocabulary } from './vocabulary.ts'

/** The text of docs/scenarios.md: the notation, with every word that a scenario may use. */
export const renderScenarioPage = (): string => [HEAD, ...vocabulary.map(row), TAIL].join('\n')

const row = ({ subject, verb, argument, means }: (typeof vocabulary)[number]): string =>
  `| ${subject} | ${argument === undefined ? verb : `${verb} (${argument})`} | ${means} |`

const HEAD = `# Scenarios

Generated from \`src/simulator/scenario/vocabulary.ts\` by \`npm run generate\`.

A scenario tells what befalls the simulated node. It changes only what the node *says*: its RPC, its tools, its units
and its journal; the agent does not know that it is a rehearsal.

\`\`\`
# Consensus stalls: every process runs, RPC answers, and no block comes any more.
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
