import type { RuleFile } from './rule.ts'

export const peers: RuleFile = {
  name: 'peers',
  groups: [
    {
      name: 'chain-peers',
      rules: [
        {
          comment:
            'Full nodes only: a validator has no upstream validators, nor has a full node that a validator serves by name; those never had any. A healthy full node has 3, sometimes 2: half an hour excludes normal dips.',
          alert: 'ChainUpstreamThin',
          severity: 'warning',
          component: 'consensus',
          limit: 2,
          for: '30m',
          expr: (limit) => `chain_native_upstream_validators < ${limit}
  and on (instance, job) (max_over_time(chain_native_upstream_validators[3h]) >= 2)
  and on (instance, job) (chain_native_stake_ratio == 0)
  unless on (instance, job) (instance:chain_statesync:active == 1)`,
          summary: 'Too few upstream validators serve this full node.',
          description: (limit) =>
            `{{ $value }} validators are upstream of {{ $labels.instance }}, and it had ${limit} or more within three hours. A deadlock of local timeouts starts with fewer than 2 for half an hour.`,
        },
        {
          comment:
            'The number of known peers alone is no evidence: it does not change while the node is cut off. After a start sessions are back within two minutes.',
          alert: 'ChainIsolated',
          severity: 'critical',
          component: 'consensus',
          limit: 5,
          for: '5m',
          expr: (limit) => `chain_native_sessions{state="transport"} < ${limit}
  and on (instance, job) (chain_native_peers > 50)`,
          summary: 'The node knows many peers and is connected to almost none.',
          description: (limit) =>
            `{{ $labels.instance }} has {{ $value }} sessions, fewer than ${limit}, although it knows more than 50 peers. It receives blocks late or not at all, and will soon fall behind.`,
        },
        {
          comment: 'Rarely so few in a week of a healthy node, and never for half an hour.',
          alert: 'ChainSessionsLow',
          severity: 'warning',
          component: 'consensus',
          limit: 8,
          for: '30m',
          expr: (limit) => `chain_native_sessions{state="transport"} < ${limit}`,
          summary: 'The node has few sessions with its peers.',
          description: (limit) =>
            `{{ $labels.instance }} has had fewer than ${limit} sessions for half an hour; now it has {{ $value }}. It may soon be isolated.`,
        },
        {
          comment:
            'Twice as many, from three peers: rarer than one five-minute window in a thousand. The range is already a delay; keep firing for five minutes, because errors come in bursts.',
          alert: 'ChainNetworkNoise',
          severity: 'critical',
          component: 'consensus',
          limit: 50,
          keepFiringFor: '5m',
          expr: (limit) => `sum by (instance, job) (increase(chain_consensus_network_errors_total[5m])) > ${limit}
  and on (instance, job) (chain_consensus_network_error_peers >= 3)`,
          summary: 'Several peers cause network errors on the node.',
          description: (limit) =>
            `{{ $labels.instance }} has had {{ $value | printf "%.0f" }} errors of the network layer in five minutes, more than ${limit}, from 3 peers or more.`,
        },
        {
          comment:
            'Three in a thousand healthy windows have more than 25. Errors from one peer are a problem of that peer. The range is already a delay; keep firing for five minutes, because errors come in bursts.',
          alert: 'ChainNetworkNoise',
          severity: 'warning',
          component: 'consensus',
          limit: 25,
          keepFiringFor: '5m',
          expr: (limit) => `sum by (instance, job) (increase(chain_consensus_network_errors_total[5m])) > ${limit}
  and on (instance, job) (chain_consensus_network_error_peers >= 2)`,
          summary: 'Several peers cause network errors on the node.',
          description: (limit) =>
            `{{ $labels.instance }} has had {{ $value | printf "%.0f" }} errors of the network layer in five minutes, more than ${limit}, from 2 peers or more.`,
        },
      ],
    },
  ],
}
