import { NODE_DOWN, ruleFile } from './rule.ts'

export const peers = ruleFile({ name: 'peers', component: 'consensus' }, [
  {
    comment:
      'Full nodes only: a validator has no upstream validators, nor has a full node that a validator serves by name; those never had any. A healthy full node has 3, sometimes 2: half an hour excludes normal dips.',
    alert: 'ChainPeersFew.upstream',
    limit: 2,
    for: '30m',
    explainedBy: [NODE_DOWN, { alerts: ['ChainIsolated'] }],
    advice: ['See the peers: `chain-agent status peers`.', 'Add validators that serve this node to its configuration.'],
    expr: (limit) => `chain_native_upstream_validators < ${limit}
  and on (instance, job, cluster) (max_over_time(chain_native_upstream_validators[3h]) >= 2)
  and on (instance, job, cluster) (chain_native_stake_ratio == 0)`,
    summary: 'too few upstream validators serve this full node',
    description: (limit) =>
      `{{ $value }} validators are upstream of {{ $labels.instance }}, and it had ${limit} or more within three hours. A deadlock of local timeouts starts with fewer than 2 for half an hour.`,
  },
  {
    comment:
      'The number of known peers alone is no evidence: it does not change while the node is cut off. After a start sessions are back within two minutes.',
    alert: 'ChainIsolated',
    page: 'The node receives almost no blocks and falls behind within minutes.',
    limit: 5,
    for: '5m',
    keepFiringFor: '3m',
    explainedBy: [NODE_DOWN, { alerts: ['ChainStartStalled'] }],
    advice: [
      'Check that its UDP ports are reachable from outside, and that its clock was not set back.',
      'See how to recover, and how much time is left: `chain-agent recover`.',
    ],
    expr: (limit) => `chain_native_sessions{state="transport"} < ${limit}
  and on (instance, job, cluster) (chain_native_peers > 50)`,
    summary: 'the node knows many peers and is connected to almost none',
    description: (limit) =>
      `{{ $labels.instance }} has {{ $value }} sessions, fewer than ${limit}, although it knows more than 50 peers. It receives blocks late or not at all, and will soon fall behind.`,
  },
  {
    comment: 'Rarely so few in a week of a healthy node, and never for half an hour.',
    alert: 'ChainPeersFew.sessions',
    limit: 8,
    for: '30m',
    explainedBy: [NODE_DOWN, { alerts: ['ChainIsolated'] }],
    advice: ['Check that its UDP ports are reachable from outside, and that its clock was not set back.'],
    expr: (limit) => `chain_native_sessions{state="transport"} < ${limit}`,
    summary: 'the node has few sessions with its peers',
    description: (limit) =>
      `{{ $labels.instance }} has had fewer than ${limit} sessions for half an hour; now it has {{ $value }}. It may soon be isolated.`,
  },
])
