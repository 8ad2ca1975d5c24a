import { period, ruleFile } from './rule.ts'

/** Three heartbeats were missed: one is due every minute. After a start of the watcher, the next one comes within a minute. */
const SILENT = { limit: 120, for: '75s' } as const

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

const described =
  (rest: string, watcher = 'watcher') =>
  (limit: number): string =>
    `{{ $labels.${watcher} }} has received no heartbeat of {{ $labels.node }} for {{ $value | humanizeDuration }}, more than ${period(limit)}. ${rest}`

/** No heartbeat arrives, on a condition about the port of the node. */
const silentNode = (condition: string, rest: string) => ({
  ...SILENT,
  seen: SEEN,
  expr: (limit: number): string => aboutNode(`${silence(limit)}\n  ${condition}`),
  description: described(rest),
})

const HEADER = {
  name: 'watcher',
  component: 'services',
  dashboard: 'd/chain-agent',
  comment: 'What an agent on another host sees of a node: docs/how-to/heartbeat.md.',
} as const

export const watcher = ruleFile(HEADER, [
  {
    ...silentNode(
      `and ${ON_NODE} (chain_watched_port{state="silent"} == 1)
  ${isConnected}`,
      'Its public port does not answer either: the host or its network is down. The agent of the node cannot report it.',
    ),
    comment: 'Only the watcher can report it. A maintenance window counts for half an hour after the last heartbeat.',
    alert: 'ChainWatchedNodeSilent.nothing',
    summary: 'no heartbeats from {{ $labels.node }}: its host does not answer',
    page: 'The host of the node, or its network, is down: its own alerts do not arrive.',
    advice: [
      'See the last report of the node: `chain-agent status watched` on the watcher.',
      'Open the console of the host at its provider.',
    ],
  },
  {
    ...silentNode(
      `and ${ON_NODE} (chain_watched_port{state="refused"} == 1)`,
      'Its host answers, and refuses connections to the public port: consensus does not run, or a firewall rejects them.',
    ),
    comment:
      'The host refuses the connection: it runs, and consensus does not listen, or a firewall rejects the connection.',
    alert: 'ChainWatchedNodeSilent.host',
    summary: 'no heartbeats from {{ $labels.node }}: consensus does not listen',
    page: 'The host runs without consensus and without an agent that would report it.',
    advice: [
      'See the last report of the node: `chain-agent status watched` on the watcher.',
      'Log in to the host, and run `chain-agent check`.',
    ],
  },
  {
    ...silentNode(
      `and ${ON_NODE} (chain_watched_port{state="open"} == 1)`,
      'Its public port answers: consensus runs. Its agent does not, or cannot reach the watcher.',
    ),
    comment: 'The port is open: consensus runs, so that blocks and votes are not lost.',
    alert: 'ChainWatchedNodeSilent.port',
    summary: 'no heartbeats from {{ $labels.node }}: consensus runs',
    advice: [
      'Log in to the host, and see whether the agent runs: `systemctl status chain-agent`.',
      'If it runs, see why its heartbeats do not arrive: `chain-agent status agent`.',
    ],
  },
  {
    ...silentNode(
      `unless ${ON_NODE} chain_watched_port
  ${isConnected}`,
      'Whether its host is up is unknown: the state of its public port is not known.',
    ),
    summary: 'no heartbeats from {{ $labels.node }}',
    comment: 'Without a setting for the port, or while it is unknown, silence can be the loss of the host.',
    alert: 'ChainWatchedNodeSilent.unknown',
    page: 'The host of the node may be down: its own alerts do not arrive then.',
    advice: [
      'See the last report of the node: `chain-agent status watched` on the watcher.',
      'Set `watched.port` on the watcher: it then distinguishes a host that is down from an agent that is down.',
    ],
  },
  {
    ...SILENT,
    comment:
      'Nothing outside can be reached from the watcher: it knows nothing about the node, so that `instance` is the watcher.',
    alert: 'ChainWatchedNodeSilent.no-network',
    summary: 'no heartbeats from {{ $labels.node }}: the watcher has no network',
    advice: ['Check the network of the watcher, on that host: `chain-agent status chain`.'],
    expr: (limit) => `${silence(limit)}
  and on (instance, job, cluster) (max by (instance, job, cluster) (chain_reference_up) == 0)
  unless ${ON_NODE} (chain_watched_port{state=~"open|refused"} == 1)`,
    description: described(
      'No reference answers the watcher either: it has no network, and the node may be healthy.',
      'instance',
    ),
  },
  {
    comment:
      'The node reports it itself. If its own alert has arrived, this one is a second one; if not, its notifications do not arrive.',
    alert: 'ChainWatchedNode.critical',
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
    alert: 'ChainWatchedNode.never-heard',
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
])
