import { chapters, type MetricDefinition } from '../metrics.ts'

const INTRODUCTION: Readonly<Record<keyof typeof chapters, string>> = {
  rpc: "The node's JSON-RPC, asked every `rpc.interval`. While the port refuses, hangs or answers nonsense, `chain_rpc_up` is 0 and the heights are absent.",
  reference:
    'Other views of the same chain (`references:`). The difference needs a quorum: the majority of those configured, within 10 blocks of each other. RPC endpoints are compared on `latest`, query services on `finalized`.',
  services: 'systemd units and timers, by `systemctl show` every `services.interval`.',
  lifecycle:
    "Starts and ends, from systemd's own lines in the journal and from the poll of the units; each run of a unit counts once.",
  ledger:
    'The ledger stream in the journal. Counters hold what the agent saw; a replay after a restart of the stream does not count again. The series of `scope="own"` exist only when `node.publicKey` is set.',
  agent: 'The agent itself. `process_*` and `nodejs_*` come on top.',
}

/** The text of docs/metrics.md. */
export const renderCatalogue = (): string =>
  `${[
    '# Metrics',
    '',
    'Generated from `src/metrics.ts` by `npm run generate`.',
    '',
    'Unknown is absent: a series whose source fails goes away once its last reading is older than two',
    'intervals and a timeout, and `chain_agent_collector_up` goes to 0. A counter that the agent itself',
    'keeps (marked *agent*) and a histogram stay, since they tell what the agent saw. Units are base units.',
    '',
    `Chapters: ${Object.keys(chapters)
      .map((name) => `[${name}](#${name})`)
      .join(' · ')}`,
    ...Object.entries(chapters).flatMap(([name, metrics]) => [
      '',
      `## ${name}`,
      '',
      introduction(name),
      '',
      '| metric | type | labels | meaning |',
      '|---|---|---|---|',
      ...Object.entries<MetricDefinition>(metrics).map(([metric, definition]) =>
        row(metric, definition),
      ),
    ]),
  ].join('\n')}\n`

const introduction = (name: string): string =>
  Object.entries(INTRODUCTION).find(([chapter]) => chapter === name)?.[1] ?? ''

const row = (name: string, { type, help, labels, buckets }: MetricDefinition): string => {
  const kind = type === 'tally' ? 'counter, *agent*' : type
  const names = Object.entries(labels ?? {}).map(([label, values]) =>
    typeof values === 'string' ? label : `${label}: ${values.join(', ')}`,
  )
  const more = buckets ? ` Buckets: ${buckets.join(', ')}.` : ''
  return `| \`${name}\` | ${kind} | ${names.join('; ')} | ${help}${more} |`
}
