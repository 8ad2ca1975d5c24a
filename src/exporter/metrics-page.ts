import { chapters, type MetricDefinition } from '../metrics.ts'

const INTRODUCTION: Readonly<Record<keyof typeof chapters, string>> = {
  rpc: "The node's JSON-RPC, read every `rpc.interval`. While the port refuses connections, times out or returns invalid responses, `chain_rpc_up` is 0 and the heights are absent.",
  reference:
    'Other views of the same chain (`references:`). The difference needs a quorum: the majority of those configured, within 10 blocks of each other. RPC endpoints are compared on `latest`, query services on `finalized`.',
  services: 'systemd units and timers, read with `systemctl show` every `services.interval`.',
  lifecycle:
    "Starts and ends of units, from systemd's messages in the journal and from polling the units. Each run of a unit counts once.",
  ledger:
    'The ledger stream in the journal. Counters hold what the agent observed; blocks that the stream repeats after a restart are not counted again. The series of `scope="own"` exist only when `node.publicKey` is set.',
  storage:
    "The node's database from the report of its storage tool, every `storage.interval`. A series is absent if the report's version does not contain it; the sentinel 2^64 − 1 means unknown. The tool needs more permissions than the agent has: run it with `deploy/chain-agent-storage.timer`, and set `storage.reportFile`.",
  status:
    "The node's own status report, at a long interval (`status.interval`, 5 minutes): each run of that tool uses the node's control socket, sends network requests and decrypts a key. `status.enabled: false` turns it off. A state is healthy only if it has the known healthy value; the values are labels of `chain_status_state_info`.",
  consensus:
    'The last 60 seconds of the consensus log, as it is followed. If the log lacks messages (only warnings and errors are kept, or journald dropped messages), the metrics that depend on them are absent.',
  execution:
    'The journal of execution, as it is followed: one line for each block, and one for each write to a timeline of the database.',
  logs: 'Known problem lines in the journals of consensus, execution and the cleanup. [Patterns](patterns.md) explains each and what to do.',
  version:
    'The installed version, the running version, and the versions that the network will require. An unknown version is never a mismatch; nor is a package suffix (`+1`), or a suffix such as `-rc` that the RPC omits. For `chain_fork_ready` of `version` the installed version decides until 24 hours before the fork; after that the running version must be new enough too. A fork that is 30 days past and fully met is no longer shown. Forks come from `networks/forks.yaml`, by the chain id that the RPC or the status report returns, and from `version.forksFile`.',
  keys: 'Keystores, their backups and their password, from file metadata. Content is checked if this user has read permission, and is never stored; `unverified` is a file that exists, is private, and cannot be read by this user.',
  host: 'What the node needs from its host and node_exporter does not export.',
  native:
    "The node's own metrics, from `native.url` or else `native.fallbackUrl`: only values without another source. If the node's metrics do not change, they are absent here and `chain_native_frozen` is 1.",
  tokens:
    'Balances of configured holders (`tokens.watch`), computed from the events of a query service; off without a configured token. They are as of 200 blocks below the height of the service, which no reorganisation reaches. Absent while the history is being read, and if the events do not explain the balances. `id` is set only for tokens with ids.',
  derived: 'Metrics derived from the other chapters: the values that matter in an incident.',
  agent: 'The agent itself, in addition to `process_*` and `nodejs_*`.',
  reload:
    'The configuration of the agent and of the query service. Each process reads it at startup, and again on SIGHUP (`systemctl reload`).',
  queryService:
    'The query service, `chain-agent serve-query`: a separate process with its own /metrics on `serveQuery.metricsListen`, in addition to `process_*` and `nodejs_*` of that process. Counters start at 0 with each run.',
}

/** The text of docs/metrics.md. */
export const renderMetricsPage = (): string =>
  `${[
    '# Metrics',
    '',
    'Generated from `src/metrics.ts` by `npm run generate`.',
    '',
    'Unknown is absent: a series whose source fails disappears once its last reading is older than two',
    'intervals and a timeout, and `chain_agent_collector_up` is 0. Counters kept by the agent (marked',
    '*agent*) and histograms remain, since they record what the agent observed. Units are base units.',
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
