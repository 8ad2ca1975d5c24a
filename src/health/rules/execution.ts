import { period, type RuleFile } from './rule.ts'

export const execution: RuleFile = {
  name: 'execution',
  groups: [
    {
      name: 'chain-execution',
      rules: [
        {
          comment:
            'A third of the time that a block has: a validator votes 300 ms after the vote before at the earliest (monad-chain-config/src/revision.rs, vote_pace of CHAIN_PARAMS_V_0_12_0; 400 ms until V_0_11_0). A busy hour of a healthy node stays below. The median is above a bucket bound if less than half of the blocks are in the bucket: this is exact, while an interpolated quantile is an estimate. No block at all is 0/0, and no alert. No page: it is early, and ChainBehind and ChainBlockStalled are not.',
          alert: 'ChainExecutionSlow',
          severity: 'warning',
          component: 'execution',
          limit: 0.1,
          limits: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.4],
          for: '5m',
          advice: [
            'Check the drives, heat and other processes: `chain-agent status host`.',
            'See its log: `chain-agent logs execution`.',
          ],
          expr: (limit) => `rate(chain_execution_block_duration_seconds_bucket{le="${limit}"}[2m])
  / on (instance, job, cluster) rate(chain_execution_block_duration_seconds_count[2m])
< 0.5`,
          summary: 'Execution takes too long for a block.',
          description: (limit) =>
            `Of the blocks of the last 2 minutes {{ $labels.instance }} executed {{ $value | humanizePercentage }} within ${limit * 1000} ms, less than half: the median is above it. Next, consensus has to wait for execution.`,
        },
        {
          comment: 'A single event happens on a healthy node and is harmless.',
          alert: 'ChainExecutionLagging',
          severity: 'warning',
          component: 'execution',
          limit: 0.1,
          for: '5m',
          advice: [
            'Check the execution time: `chain-agent status execution`.',
            'Check the drives, heat and other processes: `chain-agent status host`.',
          ],
          expr: (limit) => `rate(chain_native_events_total{event="execution_lagging"}[2m]) > ${limit}`,
          summary: 'Execution does not keep up with consensus.',
          description: (limit) =>
            `Consensus on {{ $labels.instance }} reported execution as lagging {{ $value | printf "%.2f" }} times a second, more than ${limit}, for 5 minutes.`,
        },
        {
          alert: 'ChainBadStateRoot',
          severity: 'critical',
          page: 'Answers of the RPC may be wrong.',
          component: 'execution',
          advice: [
            'Do not serve users from this RPC.',
            'Save the logs: `chain-agent bundle`.',
            'See how to recover, and how much time is left: `chain-agent recover`.',
          ],
          expr: 'increase(chain_native_events_total{event="bad_state_root"}[10m]) > 0',
          summary: 'The state of execution differs from that of the network.',
          description:
            'Consensus on {{ $labels.instance }} received {{ $value | printf "%.0f" }} state roots in 10 minutes that differ from its own. A single one is serious: answers of its RPC may be wrong.',
        },
        {
          comment:
            'The sum adds 0 to the remaining time, and copies the label check into the alert: it names the requirement. It keeps firing after the fork: then the node has left the chain, or is about to. Below 12 hours it pages: by the evening for a fork before the next noon. An upgrade and the migration of the database take minutes, and a failed one needs time to be repaired.',
          alert: 'ChainForkNotReady',
          severity: 'warning',
          component: 'execution',
          limit: 604800,
          for: '1h',
          critical: {
            limit: 43200,
            page: 'Without the upgrade the node leaves the chain at the fork, before the next working day has ended.',
          },
          advice: [
            'See what is missing: `chain-agent status versions`.',
            'Upgrade the package, then restart execution, consensus and RPC together.',
            'If the database lacks a timeline, add it before the fork, which takes about 8 minutes: see the runbook.',
          ],
          expr: (limit) => `(chain_fork_activation_timestamp_seconds - time())
  + on (instance, job, cluster, fork) group_right () (chain_fork_ready == 0)
< ${limit}`,
          summary: 'The node does not meet the requirements of a fork of its network.',
          description: (limit) =>
            `{{ $labels.instance }} is not ready for {{ $labels.fork }} by the check of the {{ $labels.check }}; it {{ if gt $value 0.0 }}takes effect in {{ $value | humanizeDuration }}, less than ${period(limit)}{{ else }}is in force{{ end }}. If this is not fixed, the node cannot follow the chain.`,
        },
        {
          alert: 'ChainBlind',
          labels: { reading: 'fork readiness' },
          severity: 'warning',
          component: 'execution',
          limit: 604800,
          for: '1h',
          pending: 'nothing',
          advice: [
            'Compare the version and the database with the release notes of the network.',
            'See which source is missing: `chain-agent status versions`.',
          ],
          expr: (limit) => `chain_fork_activation_timestamp_seconds - time() < ${limit} > 0
unless on (instance, job, cluster, fork) chain_fork_ready`,
          summary: 'It is unknown whether the node is ready for a fork of its network.',
          description: (limit) =>
            `{{ $labels.fork }} takes effect in {{ $value | humanizeDuration }}, less than ${period(limit)}, and for an hour it has been unknown whether {{ $labels.instance }} meets its requirements: ChainForkNotReady cannot fire.`,
        },
        {
          alert: 'ChainRestartPending',
          severity: 'info',
          component: 'execution',
          for: '1h',
          advice: ['Restart execution, consensus and RPC together at a convenient time.'],
          expr: 'chain_version_mismatch == 1',
          summary: 'The node runs another version than the installed one.',
          description:
            'For an hour {{ $labels.instance }} has run another version than the installed one: a restart is pending, and an unplanned restart would be an upgrade.',
        },
      ],
    },
  ],
}
