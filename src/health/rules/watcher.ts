import { period, type AlertRow, type RuleFile } from './rule.ts'

/** Three heartbeats were missed: one is due every minute. After a start of the watcher, the next one comes within a minute. */
const SILENT = {
  alert: 'ChainWatchedNodeSilent',
  component: 'services',
  limit: 120,
  for: '75s',
  summary: 'no heartbeats from {{ $labels.node }}',
} as const

const SEEN = 'Seen from {{ $labels.watcher }}, not by the agent of the node.'

const ON_NODE = 'on (instance, job, cluster, node)'

const silence = (limit: number): string => `(time() - chain_watched_heartbeat_timestamp_seconds > ${limit})
  unless ${ON_NODE} (chain_watched_maintenance == 1)`

/** Without a single reference, the watcher itself may have no network. */
const isConnected = 'unless on (instance, job, cluster) (max by (instance, job, cluster) (chain_reference_up) == 0)'

/**
 * An alert of a watcher about a node has the labels of an alert of that node, so that both are one message: `instance` is
 * the name of the node, and `watcher` the instance that observes it.
 */
const aboutNode = (expr: string): string => `label_replace(
  label_replace(
${expr.replaceAll(/^/gm, '    ')},
    "watcher", "$1", "instance", "(.*)"
  ),
  "instance", "$1", "node", "(.+)"
)`

const described = (limit: number, rest: string, watcher = 'watcher'): string =>
  `{{ $labels.${watcher} }} has received no heartbeat of {{ $labels.node }} for {{ $value | humanizeDuration }}, more than ${period(limit)}. ${rest}`

const RULES: readonly AlertRow[] = [
  {
    ...SILENT,
    comment: 'Only the watcher can report it. A maintenance window counts for half an hour after the last heartbeat.',
    why: 'nothing',
    seen: SEEN,
    summary: 'no heartbeats from {{ $labels.node }}: its host does not answer',
    severity: 'critical',
    page: 'The host of the node, or its network, is down: its own alerts do not arrive.',
    advice: [
      'See the last report of the node: `chain-agent status watched` on the watcher.',
      'Open the console of the host at its provider.',
    ],
    expr: (limit) =>
      aboutNode(`${silence(limit)}
  and ${ON_NODE} (chain_watched_port{state="silent"} == 1)
  ${isConnected}`),
    description: (limit) =>
      described(
        limit,
        'Its public port does not answer either: the host or its network is down. The agent of the node cannot report it.',
      ),
  },
  {
    ...SILENT,
    comment:
      'The host refuses the connection: it runs, and consensus does not listen, or a firewall rejects the connection.',
    why: 'host',
    seen: SEEN,
    summary: 'no heartbeats from {{ $labels.node }}: consensus does not listen',
    severity: 'critical',
    page: 'The host runs without consensus and without an agent that would report it.',
    advice: [
      'See the last report of the node: `chain-agent status watched` on the watcher.',
      'Log in to the host, and run `chain-agent check`.',
    ],
    expr: (limit) =>
      aboutNode(`${silence(limit)}
  and ${ON_NODE} (chain_watched_port{state="refused"} == 1)`),
    description: (limit) =>
      described(
        limit,
        'Its host answers, and refuses connections to the public port: consensus does not run, or a firewall rejects them.',
      ),
  },
  {
    ...SILENT,
    comment: 'The port is open: consensus runs, so that blocks and votes are not lost.',
    why: 'port',
    seen: SEEN,
    summary: 'no heartbeats from {{ $labels.node }}: consensus runs',
    severity: 'warning',
    advice: [
      'Log in to the host, and see whether the agent runs: `systemctl status chain-agent`.',
      'If it runs, see why its heartbeats do not arrive: `chain-agent status agent`.',
    ],
    expr: (limit) =>
      aboutNode(`${silence(limit)}
  and ${ON_NODE} (chain_watched_port{state="open"} == 1)`),
    description: (limit) =>
      described(limit, 'Its public port answers: consensus runs. Its agent does not, or cannot reach the watcher.'),
  },
  {
    ...SILENT,
    comment: 'Without a setting for the port, or while it is unknown, silence can be the loss of the host.',
    why: 'unknown',
    seen: SEEN,
    severity: 'critical',
    page: 'The host of the node may be down: its own alerts do not arrive then.',
    advice: [
      'See the last report of the node: `chain-agent status watched` on the watcher.',
      'Set `watched.port` on the watcher: it then distinguishes a host that is down from an agent that is down.',
    ],
    expr: (limit) =>
      aboutNode(`${silence(limit)}
  unless ${ON_NODE} chain_watched_port
  ${isConnected}`),
    description: (limit) =>
      described(limit, 'Whether its host is up is unknown: the state of its public port is not known.'),
  },
  {
    ...SILENT,
    comment:
      'Nothing outside can be reached from the watcher: it knows nothing about the node, so that `instance` is the watcher.',
    why: 'no-network',
    summary: 'no heartbeats from {{ $labels.node }}: the watcher has no network',
    severity: 'warning',
    advice: ['Check the network of the watcher, on that host: `chain-agent status chain`.'],
    expr: (limit) => `${silence(limit)}
  and on (instance, job, cluster) (max by (instance, job, cluster) (chain_reference_up) == 0)
  unless ${ON_NODE} (chain_watched_port{state=~"open|refused"} == 1)`,
    description: (limit) =>
      described(
        limit,
        'No reference answers the watcher either: it has no network, and the node may be healthy.',
        'instance',
      ),
  },
  {
    comment:
      'The node reports it itself. If its own alert has arrived, this one is a second one; if not, its notifications do not arrive.',
    alert: 'ChainWatchedNode',
    why: 'critical',
    severity: 'warning',
    component: 'services',
    for: '5m',
    pending: 'nothing',
    advice: [
      'See the causes: `chain-agent status watched` on the watcher.',
      'If no alert of the node itself has arrived, check the way from it: `chain-agent alert test` on the node.',
    ],
    expr: aboutNode(`chain_watched_health{state="critical"} == 1
  and ${ON_NODE} (time() - chain_watched_heartbeat_timestamp_seconds < ${SILENT.limit})`),
    summary: '{{ $labels.node }} reports that it is critical',
    seen: 'Seen by the agent of the node, which reports it to {{ $labels.watcher }}.',
    description:
      'The agent of {{ $labels.node }} has reported to {{ $labels.watcher }} for five minutes that the node is critical. Its own alerts should have arrived.',
  },
  {
    comment: 'Never received any: a watcher that was set up and not connected watches nothing.',
    alert: 'ChainWatchedNode',
    why: 'never-heard',
    severity: 'warning',
    component: 'agent',
    for: '15m',
    pending: 'nothing',
    advice: [
      'Set `heartbeat.urlFile` on the node to the address of the watcher: docs/how-to/heartbeat.md.',
      'See on the node why it is not accepted: `chain-agent status agent`.',
    ],
    expr: `(chain_agent_collector_up{collector="watched"} == 1)
  unless on (instance, job, cluster) chain_watched_heartbeat_timestamp_seconds`,
    summary: 'no heartbeat of the watched node has ever arrived',
    description:
      '{{ $labels.instance }} is configured to watch a node and has received no heartbeat of it. If the node stops sending heartbeats, no alert fires.',
  },
  {
    comment:
      'The staking precompile adds a reward with each own block. Within six hours at least 144 readings had a new one, so that half an hour has 13 on average: none happens by chance twice in a million. Nearly all readings of the half hour exist, and are of new blocks. Only on a watcher, and no page: the agent of the node has better sources and pages by them, and its silence pages.',
    alert: 'ChainWatchedNode',
    why: 'no-proposals',
    severity: 'warning',
    component: 'duty',
    limit: 144,
    for: '1m',
    advice: [
      'See whether the node reports why: `chain-agent status watched` on the watcher.',
      'See the set and the flags of the validator: `chain-agent status staking` on the watcher.',
    ],
    expr: (limit) => `(changes(chain_staking_reward_tokens_total{share="pool"}[30m]) == 0)
  and on (instance, job, cluster) (changes(chain_staking_reward_tokens_total{share="pool"}[6h]) >= ${limit})
  and on (instance, job, cluster) (count_over_time(chain_staking_reward_tokens_total{share="pool"}[30m:1m]) > 27)
  unless on (instance, job, cluster) (time() - chain_staking_block_timestamp_seconds > 60)
  and on (instance, job, cluster) (chain_staking_active == 1)
  and on (instance, job, cluster) (chain_agent_build_info{profile="watcher"})`,
    summary: 'the watched validator earns no rewards: it has no own blocks',
    description: (limit) =>
      `By the staking precompile, as {{ $labels.instance }} sees it, the validator has earned nothing for half an hour. In the hours before it had new rewards in ${limit} readings or more.`,
  },
]

export const watcher: RuleFile = {
  name: 'watcher',
  comment: 'What an agent on another host sees of a node: docs/how-to/heartbeat.md.',
  groups: [{ name: 'chain-watcher', rules: RULES.map((row) => ({ ...row, dashboard: 'd/chain-agent' })) }],
}
