import { type AlertRow, type Cause, NODE_DOWN, percent, period, RPC_DOWN, ruleFile, SERVICE_DOWN } from './rule.ts'

const RPC_EXPECTED = `unless on (instance, job, cluster) (instance:chain_sync:expected == 1)
unless on (instance, job, cluster) (instance_service:chain_service:down{service=~"bft|execution|rpc"} == 1)`

const RPC_IS_DOWN = `chain_rpc_up == 0
${RPC_EXPECTED}`

/** The share of the polls' requests without a valid response. Refused and timed out requests have no duration. */
const rpcErrors = (range: string): string => `sum by (instance, job, cluster) (rate(chain_rpc_errors_total[${range}]))
  / on (instance, job, cluster)
    (
      sum by (instance, job, cluster) (rate(chain_rpc_request_duration_seconds_count[${range}]))
        + on (instance, job, cluster)
      sum by (instance, job, cluster) (rate(chain_rpc_errors_total{reason=~"refused|timeout"}[${range}]))
    )`

const RPC_EXPLAINED: readonly Cause[] = [
  NODE_DOWN,
  { alerts: SERVICE_DOWN, services: ['rpc'] },
  { alerts: ['ChainStatesync', 'ChainStartStalled'] },
]

const RPC_DOWN_ROW = {
  keepFiringFor: '3m',
  explainedBy: RPC_EXPLAINED,
  advice: ['See the log: `chain-agent logs rpc`.'],
  summary: 'the RPC of the node does not return a valid answer',
  description:
    'For a minute the RPC of {{ $labels.instance }} has refused connections, timed out or returned invalid answers, and the node does not report that it needs statesync.',
} satisfies Partial<AlertRow>

export const sync = ruleFile({ name: 'sync', component: 'sync' }, [
  {
    comment:
      'The time that the chain takes for the blocks that the node is behind. The block rate of a chain changes with its releases; until it is measured (the first seconds, an hour without a block) 3 blocks a second are assumed, between the 2.5 that such chains had and the 3.3 that they have.',
    record: 'instance:chain_behind:seconds',
    expr: `chain_block_difference / on (instance, job, cluster) (
    chain_blocks_per_second
  or on (instance, job, cluster)
    3 * group by (instance, job, cluster) (chain_block_difference)
)`,
  },
  {
    comment:
      'A healthy node is within two or three blocks of the others. In time, not in blocks: at 3 blocks a second 5 s are 15 blocks, 20 s are 60. The critical alert waits a minute, so that on a stalled node ChainBlockStalled fires first and inhibits it.',
    alert: 'ChainBehind',
    limit: 5,
    for: '30s',
    keepFiringFor: '3m',
    critical: {
      limit: 20,
      for: '1m',
      page: 'The node serves old blocks and votes late; if it does not catch up, its peers soon no longer serve it.',
    },
    explainedBy: [
      NODE_DOWN,
      {
        alerts: [
          'ChainBlockStalled',
          'ChainBlockStalled.deadlock',
          'ChainStatesync',
          'ChainStartStalled',
          'ChainIsolated',
        ],
      },
    ],
    advice: ['See whether it catches up: `chain-agent status chain --watch`.'],
    expr: (limit) => `instance:chain_behind:seconds > ${limit}
unless on (instance, job, cluster) (instance:chain_sync:expected == 1)`,
    summary: 'the node is behind the network',
    description: (limit) =>
      `{{ $labels.instance }} is {{ $value | humanizeDuration }} of blocks behind the network, more than ${limit} s. Once it is too far behind, peers no longer serve it block by block.`,
  },
  {
    comment: 'While the RPC of the node itself does not answer there is nothing to compare: ChainRpcDown covers that.',
    alert: 'ChainBlind.references',
    for: '10m',
    pending: 'warning',
    explainedBy: [NODE_DOWN, { alerts: SERVICE_DOWN, services: ['rpc'] }],
    advice: [
      'See which references answer: `chain-agent status agent`.',
      'At least two must answer and agree: add others to `references` in the configuration, or replace those that do not answer.',
    ],
    expr: `count by (instance, job, cluster) (chain_reference_up)
unless on (instance, job, cluster) chain_block_difference
unless on (instance, job, cluster) (chain_rpc_up == 0)
unless on (instance, job, cluster) chain_agent_build_info{profile="watcher"}`,
    summary: 'it is unknown whether the node is behind',
    description:
      '{{ $labels.instance }} has {{ $value }} references, and for 10 minutes no majority of them has answered and agreed on a height: ChainBehind cannot fire.',
  },
  {
    comment:
      'In blocks, because the limits of the node are numbers of blocks: one blocksync request is for 800 at most, peers keep 1,000, and a live node panics at 3/2 of statesync_threshold, 900 by default (monad-bft/monad-ledger/src/lib.rs, ledger_fetch_headers; monad-bft/monad-consensus-state/src/lib.rs, maybe_statesync). 800 blocks are 4 minutes. Two evaluations, so that one bad height of a reference does not fire it; of 300 blocks, 90 s, no more can be spared. After a statesync the height of the node is unknown for up to a minute: two, so that at a scrape interval of a minute the range has a sample. While consensus starts, there is nothing to restart: ChainStartStalled has its limit.',
    alert: 'ChainBlocksyncWindow',
    limit: 450,
    for: '15s',
    keepFiringFor: '3m',
    explainedBy: [{ alerts: ['ChainBlockStalled', 'ChainBehind'] }],
    critical: {
      limit: 300,
      explainedBy: [],
      page: 'In about 90 seconds the node can no longer catch up by a restart: it then needs a newer forkpoint and a statesync.',
    },
    advice: ['See how to recover, and how much time is left: `chain-agent recover`.'],
    expr: (limit) => `chain_blocksync_window_remaining_blocks < ${limit}
unless on (instance, job, cluster) (max_over_time(instance:chain_statesync:active[2m]) == 1)
unless on (instance, job, cluster) (instance:chain_start:active == 1)`,
    summary: 'the node will soon be too far behind to catch up block by block',
    description: (limit) =>
      `{{ $labels.instance }} can fall behind by {{ $value }} more blocks, fewer than ${limit}, before peers no longer serve the blocks that it lacks. After that it recovers only with a newer forkpoint and statesync, or with a snapshot.`,
  },
  {
    alert: 'ChainBlind.blocksync-window',
    for: '10m',
    pending: 'nothing',
    explainedBy: [NODE_DOWN, { alerts: ['ChainStartStalled'] }],
    advice: [
      'See whether the node runs: `chain-agent status`.',
      'See which collectors fail, and why: `chain-agent status agent`.',
    ],
    expr: `group by (instance, job, cluster) (chain_agent_collector_up{collector="derived"} == 1)
unless on (instance, job, cluster) chain_blocksync_window_remaining_blocks
unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
    summary: 'it is unknown whether the node could still catch up block by block',
    description:
      'For 10 minutes the agent on {{ $labels.instance }} has had no height of the node, or no block rate of the chain: ChainBlocksyncWindow cannot fire.',
  },
  {
    comment:
      'A healthy start is live within seconds: it needs the six blocks that end with the root of the forkpoint, which are in its own ledger or come from peers (0.7 s for each request; sessions within two minutes). Without them it waits for ever. Three minutes after the start, as instance:chain_sync:expected ends; a process that systemd restarts starts again. A service that is down is ChainServiceDown.',
    alert: 'ChainStartStalled',
    page: 'The node is out of service, and it does not become live by itself.',
    for: '3m',
    pending: 'warning',
    explainedBy: [NODE_DOWN],
    advice: [
      'See sessions and peers: `chain-agent status peers`. Fix the network first.',
      'See the requests that no peer answers: `chain-agent logs bft`.',
    ],
    expr: `instance:chain_start:active == 1
unless on (instance, job, cluster) (instance_service:chain_service:down{service="bft"} == 1)`,
    summary: 'consensus was started and is not live',
    description:
      'For three minutes consensus on {{ $labels.instance }} has run without becoming live and without a statesync: it waits for the blocks of its forkpoint, and no peer serves them. It does not recover by itself if peers no longer have them.',
  },
  {
    comment:
      'The estimate of the node adds what a finished request of a prefix is worth, and may stand for long while data arrives: the alert needs a database that does not grow, too. Consensus measures its use every 30 s. That a statesync is running is not an alert. The progress stays exported afterwards: its age counts only during a statesync.',
    alert: 'ChainStatesyncFrozen',
    limit: 900,
    for: '30s',
    critical: {
      limit: 1800,
      page: 'The node is out of service for as long as its statesync is stalled, and it may not resume by itself.',
    },
    advice: ['See how to recover: `chain-agent recover`.'],
    expr: (limit) => `time() - chain_statesync_last_progress_timestamp_seconds > ${limit}
and on (instance, job, cluster) (instance:chain_statesync:active == 1)
unless on (instance, job, cluster) (changes(chain_native_database_used_bytes[10m]) > 0)`,
    summary: 'statesync is stalled',
    description: (limit) =>
      `The statesync of {{ $labels.instance }} has made no progress for {{ $value | humanizeDuration }}, more than ${period(limit)}. It may not resume by itself.`,
  },
  {
    alert: 'ChainBlind.statesync-progress',
    for: '15m',
    pending: 'nothing',
    advice: [
      'See peers and sessions: `chain-agent status peers`.',
      'Set `native.url`, so that the agent sees the progress.',
    ],
    expr: `instance:chain_statesync:active == 1
unless on (instance, job, cluster) chain_statesync_last_progress_timestamp_seconds`,
    summary: 'the node needs statesync, and its progress is unknown',
    description:
      '{{ $labels.instance }} has needed statesync for 15 minutes, and has reported neither progress nor target: ChainStatesyncFrozen cannot fire.',
  },
  {
    comment:
      'An RPC that starts while consensus is not live waits for it and does not listen, which is no outage; one that was up keeps answering with its old heights. For a service that is down ChainServiceDown fires.',
    alert: 'ChainRpcDown',
    page: 'Users of this RPC get no answers.',
    for: '1m',
    pending: 'warning',
    expr: `${RPC_IS_DOWN}
unless on (instance, job, cluster) (chain_node_role{role="validator"} == 1)`,
    ...RPC_DOWN_ROW,
  },
  {
    comment: 'A validator serves no users by RPC. A node whose role is unknown may serve some.',
    alert: 'ChainRpcDown',
    for: '1m',
    pending: 'warning',
    expr: `${RPC_IS_DOWN}
and on (instance, job, cluster) (chain_node_role{role="validator"} == 1)`,
    ...RPC_DOWN_ROW,
  },
  {
    ...RPC_DOWN_ROW,
    comment:
      'An RPC that answers now and then has chain_rpc_up 1 now and then; one that never does is the row above. Two minutes: the range still has the errors of an outage that has ended.',
    alert: 'ChainRpcDown.most-requests-fail',
    summary: 'most requests to the RPC of the node fail',
    page: 'Users of this RPC get no answers.',
    for: '2m',
    expr: `${rpcErrors('2m')} > 0.5
and on (instance, job, cluster) (max_over_time(chain_rpc_up[2m]) == 1)
${RPC_EXPECTED}
unless on (instance, job, cluster) (chain_node_role{role="validator"} == 1)`,
    description:
      'The RPC of {{ $labels.instance }} has answered some requests of the agent, and for two minutes {{ $value | humanizePercentage }} have failed, more than half.',
  },
  {
    comment:
      'Requests of the agent, about two a second: users have the same answers at the same time. An outage that has ended leaves the range before five minutes have passed.',
    alert: 'ChainRpcDown.requests-fail',
    limit: 0.05,
    for: '5m',
    explainedBy: [{ alerts: RPC_DOWN }, ...RPC_EXPLAINED],
    advice: [
      'See the reasons: `curl -s localhost:9843/metrics | grep ^chain_rpc_errors_total`.',
      'See the log: `chain-agent logs rpc`.',
    ],
    expr: (limit) => `${rpcErrors('5m')} > ${limit}
${RPC_EXPECTED}
and on (instance, job, cluster) (chain_node_role{role="rpc"} == 1)`,
    summary: 'requests to the RPC of the node fail',
    description: (limit) =>
      `For five minutes {{ $value | humanizePercentage }} of the requests of the agent to the RPC of {{ $labels.instance }} have failed, more than ${percent(limit)}. The node serves users.`,
  },
  {
    comment:
      'A block without its transactions, over the loopback interface: normally milliseconds. A request that times out has no duration, and counts for ChainRpcDown (`requests-fail`).',
    alert: 'ChainRpcSlow',
    limit: 0.5,
    limits: [0.005, 0.025, 0.1, 0.25, 0.5],
    for: '5m',
    explainedBy: [{ alerts: RPC_DOWN }, NODE_DOWN],
    advice: [
      'Check the load of the host and of the RPC: `chain-agent status host`, `chain-agent logs rpc`.',
      'Close the port to clients that send more than the node can answer.',
    ],
    expr: (limit) => `rate(chain_rpc_request_duration_seconds_bucket{method="eth_getBlockByNumber",le="${limit}"}[5m])
  / on (instance, job, cluster)
rate(chain_rpc_request_duration_seconds_count{method="eth_getBlockByNumber"}[5m]) < 0.9
and on (instance, job, cluster) (chain_node_role{role="rpc"} == 1)`,
    summary: 'the RPC of the node is slow',
    description: (limit) =>
      `For five minutes the RPC of {{ $labels.instance }} has answered only {{ $value | humanizePercentage }} of the requests for a block within ${limit * 1000} ms, less than 90%. Users of the node wait longer than that.`,
  },
  {
    comment:
      'F31. Consensus writes the set of the next epoch about half an hour before it begins, and exits if it cannot: a file that lacks the current epoch was replaced, or is not the one that consensus writes. A start compares it with the forkpoint.',
    alert: 'ChainStartFiles.validators',
    for: '15m',
    advice: [
      'See who wrote the file: `ls -l --time-style=full-iso /home/*/*/config/validators`.',
      'Do not restart the node before it is right: the start of consensus fails without the set of the epoch of its forkpoint.',
    ],
    expr: `chain_ledger_epoch{event="finalized"} > on (instance, job, cluster) chain_schedule_file_epoch
  and on (instance, job, cluster) (chain_service_active{service="bft"} == 1)
  unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
    summary: 'the file with the sets of validators lacks the current epoch',
    description:
      'validators.toml of {{ $labels.instance }} has no set of epoch {{ $value }}, which the network has finalized blocks of, while consensus runs: a restart would start from that file.',
  },
])
