import { FINDINGS } from '../../collectors/consensus/findings.ts'
import { type AlertRow, NETWORK_HALTED, NODE_DOWN, RPC_DOWN, ruleFile, STALLED_ADVICE } from './rule.ts'

/** The findings of the consensus log that no other alert reports from the journal, as alternatives of an expression. */
const reported = (address: string): string =>
  FINDINGS.filter(({ alert }) => alert === address)
    .map(({ finding }) => finding)
    .join('|')

const CONSENSUS_FINDING = {
  for: '5m',
  explainedBy: [
    NODE_DOWN,
    {
      alerts: [
        'ChainBlockStalled',
        'ChainBlockStalled.deadlock',
        'ChainStartStalled',
        'ChainIsolated',
        'ChainClockDrift',
        'ChainExecutionSlow.lagging',
        'ChainNotVoting',
      ],
    },
  ],
  advice: ['See the evidence, and what to do: `chain-agent monlog`.'],
  summary: 'the log of consensus shows {{ $labels.finding }}',
  description:
    'The analysis of the last minute of the consensus log on {{ $labels.instance }} has found {{ $labels.finding }} for five minutes.',
} as const satisfies Partial<AlertRow>

export const consensus = ruleFile({ name: 'consensus', component: 'consensus' }, [
  {
    comment:
      'Thirty seconds are about a hundred blocks, and peers serve a node that lags for only a few minutes. While consensus or execution is down, ChainServiceDown fires. Ten seconds are 25 to 33 missed blocks: a network problem does not last that long on a healthy node. Two scrapes, so that one late reading does not fire the alert. It keeps firing for three minutes: a node that stalls again and again is one problem.',
    alert: 'ChainBlockStalled',
    limit: 10,
    for: '30s',
    keepFiringFor: '3m',
    critical: {
      limit: 30,
      page: 'The node does not follow the chain and serves old blocks; in minutes its peers no longer serve it the blocks that it lacks.',
    },
    explainedBy: [
      NODE_DOWN,
      NETWORK_HALTED,
      {
        alerts: [
          'ChainBlockStalled.deadlock',
          'ChainStatesync',
          'ChainStartStalled',
          'ChainIsolated',
          'ChainStateDiverged',
        ],
      },
    ],
    advice: STALLED_ADVICE,
    expr: (limit) => `instance:chain_block_age:seconds > ${limit}
  unless on (instance, job, cluster) (instance:chain_sync:expected == 1)
  unless on (instance, job, cluster) (instance_service:chain_service:down{service=~"bft|execution"} == 1)`,
    summary: 'the newest block of the node is too old',
    description: (limit) =>
      `The newest block that {{ $labels.instance }} has is {{ $value | humanizeDuration }} old by its own timestamp; the limit is ${limit} seconds. Either no new block arrives, or the node is far behind.`,
  },
  {
    comment:
      'A block is finalized when the second block after it has a quorum: about a second. While new blocks arrive, a minute without a finalized one was never observed. A node that catches up has old finalized blocks, too, but new ones with every scrape: `changes`.',
    alert: 'ChainFinalityStalled',
    page: 'Nothing becomes final: exchanges, bridges and indexers wait, and other alerts see a chain that advances.',
    limit: 60,
    for: '30s',
    keepFiringFor: '3m',
    pending: 'warning',
    explainedBy: [NODE_DOWN, NETWORK_HALTED, { alerts: ['ChainStateDiverged'] }],
    advice: [
      'Compare the finalized block with that of another RPC: see the runbook.',
      'If theirs is not newer, the network finalizes nothing: restart nothing, and contact the other operators.',
      'If theirs is newer: `chain-agent recover`.',
    ],
    expr: (limit) => `instance:chain_finalized_age:seconds > ${limit}
  and on (instance, job, cluster) (instance:chain_block_age:seconds < 10)
  unless on (instance, job, cluster) (changes(chain_ledger_block_timestamp_seconds{event="finalized"}[1m]) > 0)
  unless on (instance, job, cluster) (changes(chain_rpc_block_timestamp_seconds{tag="finalized"}[1m]) > 0)
  unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
    summary: 'new blocks arrive, but none is finalized',
    description: (limit) =>
      `The newest finalized block of {{ $labels.instance }} is {{ $value | humanizeDuration }} old, more than ${limit} seconds, while new blocks arrive. What needs finalized blocks waits; other alerts see a chain that advances.`,
  },
  {
    comment:
      'The proof of a halt needs two kinds of observers at one height: nodes whose newest block is old and whose height does not change, and a majority of their references that has no more than ten blocks, four seconds, more. References that are broken while the network continues would have another height, or the node would advance. A node of the same job and cluster that advances disproves it. The age of the block alone would be a clock that is ahead; hence `rate`, which needs two samples, also in VictoriaMetrics: at a scrape interval of a minute those of two minutes.',
    alert: 'ChainNetworkHalted',
    causedBy: 'network',
    page: 'The operators of the network must act together, and restarting a node would harm it.',
    limit: 30,
    keepFiringFor: '3m',
    pending: 'warning',
    dashboard: 'd/chain-fleet',
    advice: [
      'Restart nothing: the nodes are in sync, and the network needs the validators that run.',
      "Read the network's status page and the channel of its operators, and wait for instructions.",
    ],
    expr: (limit) => `count by (job, cluster) (
  instance:chain_block_age:seconds > ${limit}
    and on (instance, job, cluster) (abs(chain_block_difference) <= 10)
    and on (instance, job, cluster) (
        rate(chain_rpc_block_number{tag="latest"}[1m]) == 0
      or on (instance, job, cluster)
        rate(chain_rpc_block_number{tag="latest"}[2m]) == 0
    )
)
  unless on (job, cluster) (instance:chain_block_age:seconds < 10)`,
    summary: 'the network is stalled: own nodes and references have no new block',
    description: (limit) =>
      `{{ $value }} nodes of {{ $labels.job }} have had no new block for more than ${limit} seconds, and a majority of their references is at the same height. The nodes themselves are healthy: do not restart them.`,
  },
  {
    comment: 'A restart of the node is finished within five minutes; an unreachable RPC has its own alert before that.',
    alert: 'ChainBlind.block',
    for: '5m',
    explainedBy: [NODE_DOWN, { alerts: [...RPC_DOWN, 'ChainStatesync', 'ChainStartStalled'] }],
    advice: [
      'See whether the RPC answers: `chain-agent status rpc`.',
      'See which collectors fail, and why: `chain-agent status agent`.',
    ],
    pending: 'nothing',
    expr: `group by (instance, job, cluster) (chain_agent_build_info{profile!="watcher"})
  unless on (instance, job, cluster) instance:chain_block_age:seconds
  unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
    summary: 'the age of the newest block is unknown',
    description:
      'The agent at {{ $labels.instance }} runs, but neither the ledger stream nor the RPC has given it the timestamp of a block for five minutes. ChainBlockStalled cannot fire.',
  },
  {
    comment:
      'A working node commits several blocks a second: none in two minutes together with local timeouts was never observed on a healthy node. A restart also changes the counter, so it has three minutes again.',
    alert: 'ChainBlockStalled.deadlock',
    page: 'The node commits nothing and does not recover by itself.',
    for: '1m',
    keepFiringFor: '3m',
    explainedBy: [NODE_DOWN, NETWORK_HALTED, { alerts: ['ChainFinalityStalled', 'ChainStateDiverged'] }],
    advice: STALLED_ADVICE,
    expr: `rate(chain_native_events_total{event="local_timeout"}[2m]) > 0
  and on (instance, job, cluster) (changes(chain_native_events_total{event="committed_block"}[2m]) == 0)
  unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
    summary: 'consensus abandons round after round and commits no block',
    description:
      '{{ $labels.instance }} abandons {{ $value | printf "%.1f" }} rounds a second and has committed no block for two minutes. Its processes run and its RPC may answer, but it does not recover by itself.',
  },
  {
    comment:
      'Of one minute of the log: five minutes exclude a short problem of the network. Other findings have their own alert. Some have one that needs the metrics of consensus: without them this is the only one.',
    ...CONSENSUS_FINDING,
    alert: 'ChainLogTrouble.consensus-finding',
    expr: `chain_consensus_finding{finding=~"${reported('ChainLogTrouble.consensus-finding')}"} == 1
  unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
  },
  {
    comment: 'A timeout closes a round with the signatures of a quorum: no single node causes it.',
    ...CONSENSUS_FINDING,
    alert: 'ChainLogTrouble.network-timeouts',
    causedBy: 'network',
    expr: `chain_consensus_finding{finding="${reported('ChainLogTrouble.network-timeouts')}"} == 1
  unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
  },
  {
    comment: 'Two sources disagree, so the cause is the endpoint and not the node: no page is needed.',
    alert: 'ChainBlind.old-consensus-metrics',
    for: '1m',
    pending: 'nothing',
    explainedBy: [NODE_DOWN],
    advice: [
      'Do not rely on the metrics of consensus.',
      'If they come through the OpenTelemetry collector, restart it: `sudo systemctl restart otelcol`.',
    ],
    expr: 'chain_native_zombie == 1',
    summary: 'the metrics of consensus do not change while the node advances',
    description:
      'An endpoint keeps serving old values of consensus to {{ $labels.instance }}, while the height of the RPC grows. The alerts that need those metrics cannot fire.',
  },
  {
    comment:
      'The uptime is exported while the metrics are live, from any endpoint. A restart is finished within five minutes. If the collector is disabled, the alert does not fire.',
    alert: 'ChainBlind.consensus-metrics',
    for: '5m',
    explainedBy: [NODE_DOWN],
    advice: [
      'See which endpoints answer: `chain-agent status peers`.',
      'Enable the metrics of the node, or set `native.url`.',
    ],
    pending: 'nothing',
    expr: `chain_agent_collector_up{collector="native"}
  unless on (instance, job, cluster) chain_native_uptime_seconds
  unless on (instance, job, cluster) (chain_native_zombie == 1)`,
    summary: 'no endpoint serves live metrics of consensus',
    description:
      'The agent at {{ $labels.instance }} has had no live metrics of consensus for five minutes: endpoints do not answer, or their values do not change. The alerts on deadlock, isolation, votes, state roots and the active set cannot fire.',
  },
  {
    comment: 'Usually an old version, or one that has renamed them: it does not get worse by the hour.',
    alert: 'ChainBlind.some-consensus-metrics',
    severity: 'info',
    for: '15m',
    advice: [
      'See which metrics are missing: `chain-agent status peers`.',
      'Upgrade the node or the agent if a metric was renamed.',
    ],
    pending: 'nothing',
    expr: `chain_native_uptime_seconds
  unless on (instance, job, cluster) (instance:chain_start:active == 1)
  unless on (instance, job, cluster) (instance:chain_statesync:active == 1)
  unless on (instance, job, cluster) (
    chain_native_stake_ratio
      and on (instance, job, cluster) chain_native_upstream_validators
      and on (instance, job, cluster) chain_native_sessions{state="transport"}
      and on (instance, job, cluster) chain_native_events_total{event="vote_created"}
  )`,
    summary: 'some metrics of consensus that alerts need are missing',
    description:
      'Consensus at {{ $labels.instance }} has been up for {{ $value | humanizeDuration }} and does not export its stake, its upstream validators, its sessions or its votes. The alerts that need the missing metric cannot fire.',
  },
])
