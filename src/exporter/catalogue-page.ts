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
  storage:
    "The node's database by the report of its tool, every `storage.interval`. A series is absent where the version of the report does not tell it; the sentinel 2^64 − 1 is unknown. The tool needs more rights than the agent has: let `deploy/chain-agent-storage.timer` run it, and read its file with `storage.reportFile`.",
  status:
    "The node's own status report, asked gently (`status.interval`, 5 minutes): each run of that tool touches the node's control socket, calls out and decrypts a key. `status.enabled: false` turns it off. Only the healthy word that is known for each state counts as healthy; the words themselves are labels of `chain_status_state_info`.",
  consensus:
    'The last 60 seconds of the consensus log, as it is followed. Where the log does not tell a thing (only warnings and errors are kept, or journald dropped messages), what depends on it is absent.',
  execution:
    'The journal of execution, as it is followed: one line a block, and one a write into the database for each timeline.',
  logs: 'Lines that mean trouble, in the journals of consensus, execution and the clean-up; [patterns](patterns.md) tells what each means and what to do.',
  version:
    'What is installed, what runs, and what the network will ask for. A version that is not known is never a mismatch; nor is what a package adds to it (`+1`), or a suffix such as `-rc` that the RPC leaves out. For `chain_fork_ready` of `version` what is installed decides until 24 hours before the fork, then what runs must be new enough, too. A fork that is 30 days past, with all that it asked for, is no longer shown. Forks come from `networks/forks.yaml`, by the chain id that the RPC or the status report tells, and from `version.forksFile`.',
  keys: 'Keystores, their backups and their password, by what the file system says of them. Content is checked where this user may read it, and kept nowhere; `unverified` is a file that is there, and private, and whose content this user may not read.',
  host: 'What the node needs from its host and node_exporter does not say.',
  native:
    "The node's own metrics, asked at `native.url`, else at `native.fallbackUrl`: only what nothing else gives. Metrics that do not change are absent here, and `chain_native_frozen` is 1.",
  tokens:
    'Balances of configured holders (`tokens.watch`), rebuilt from events that a query service gives; off without a token. They end 200 blocks below the height of the service, where no reorganisation reaches. Absent while the history is still being read, and where the events do not explain the balances. `id` is empty but for a token of its own.',
  derived: 'What follows from the other chapters: the figures that decide an incident.',
  agent: 'The agent itself. `process_*` and `nodejs_*` come on top.',
  reload:
    'The configuration of the agent and of the query service. Each reads it when it starts, and again on SIGHUP (`systemctl reload`).',
  queryService:
    'The query service, `chain-agent serve-query`: a process of its own with a /metrics of its own, `serveQuery.metricsListen`; `process_*` and `nodejs_*` of that process come on top. Counters begin at 0 with each run.',
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
