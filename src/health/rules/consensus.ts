import { FINDINGS } from '../../collectors/consensus/findings.ts'
import { NODE_DOWN, type RuleFile } from './rule.ts'

const ALERT_ON_FINDINGS = 'ChainConsensusFinding'
/** The findings of the consensus log that no other alert reports from the journal. */
const REPORTED = FINDINGS.filter(({ alert }) => alert === ALERT_ON_FINDINGS).map(({ finding }) => finding)

export const consensus: RuleFile = {
  name: 'consensus',
  groups: [
    {
      name: 'chain-consensus',
      rules: [
        {
          comment:
            'Thirty seconds are about a hundred blocks, and peers serve a node that lags for only a few minutes. While consensus or execution is down, ChainServiceDown fires. Ten seconds are 25 to 33 missed blocks: a network problem does not last that long on a healthy node. Two scrapes, so that one late reading does not fire the alert. It keeps firing for three minutes: a node that stalls again and again is one problem.',
          alert: 'ChainBlockStalled',
          severity: 'warning',
          component: 'consensus',
          limit: 10,
          for: '30s',
          keepFiringFor: '3m',
          critical: {
            limit: 30,
            page: 'The node does not follow the chain and serves old blocks; in minutes its peers no longer serve it the blocks that it lacks.',
          },
          explainedBy: [NODE_DOWN, { alerts: ['ChainConsensusDeadlock', 'ChainStatesync', 'ChainIsolated'] }],
          advice: [
            'Analyse the consensus log: `chain-agent monlog`.',
            'See how to recover, and how much time is left: `chain-agent recover`.',
          ],
          expr: (limit) => `instance:chain_block_age:seconds > ${limit}
  unless on (instance, job, cluster) (instance:chain_statesync:active == 1)
  unless on (instance, job, cluster) (instance_service:chain_service:down{service=~"bft|execution"} == 1)`,
          summary: 'The newest block of the node is too old.',
          description: (limit) =>
            `The newest block that {{ $labels.instance }} has is {{ $value | humanizeDuration }} old by its own timestamp; the limit is ${limit} seconds. Either no new block arrives, or the node is far behind.`,
        },
        {
          comment:
            'A restart of the node is finished within five minutes; an unreachable RPC has its own alert before that.',
          alert: 'ChainBlind',
          labels: { reading: 'block' },
          severity: 'warning',
          component: 'consensus',
          for: '5m',
          explainedBy: [NODE_DOWN, { alerts: ['ChainRpcDown', 'ChainStatesync'] }],
          advice: [
            'See whether the RPC answers: `chain-agent status rpc`.',
            'See which collectors fail, and why: `chain-agent status agent`.',
          ],
          pending: 'nothing',
          expr: `group by (instance, job, cluster) (chain_agent_build_info)
  unless on (instance, job, cluster) instance:chain_block_age:seconds
  unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
          summary: 'The age of the newest block is unknown.',
          description:
            'The agent at {{ $labels.instance }} runs, but neither the ledger stream nor the RPC has given it the timestamp of a block for five minutes. ChainBlockStalled cannot fire.',
        },
        {
          comment:
            'A working node commits several blocks a second: none in two minutes together with local timeouts was never observed on a healthy node. A restart also changes the counter, so it has three minutes again.',
          alert: 'ChainConsensusDeadlock',
          severity: 'critical',
          page: 'The node commits nothing and does not recover by itself.',
          component: 'consensus',
          for: '1m',
          keepFiringFor: '3m',
          explainedBy: [NODE_DOWN],
          advice: [
            'Analyse the consensus log: `chain-agent monlog`.',
            'See how to recover, and how much time is left: `chain-agent recover`.',
          ],
          expr: `rate(chain_native_events_total{event="local_timeout"}[2m]) > 0
  and on (instance, job, cluster) (changes(chain_native_events_total{event="committed_block"}[2m]) == 0)
  unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
          summary: 'Consensus abandons round after round and commits no block.',
          description:
            '{{ $labels.instance }} abandons {{ $value | printf "%.1f" }} rounds a second and has committed no block for two minutes. Its processes run and its RPC may answer, but it does not recover by itself.',
        },
        {
          comment:
            'Of one minute of the log: five minutes exclude a short problem of the network. Other findings have their own alert. Some have one that needs the metrics of consensus: without them this is the only one.',
          alert: ALERT_ON_FINDINGS,
          severity: 'warning',
          component: 'consensus',
          for: '5m',
          explainedBy: [
            NODE_DOWN,
            {
              alerts: [
                'ChainBlockStalled',
                'ChainConsensusDeadlock',
                'ChainIsolated',
                'ChainClockDrift',
                'ChainExecutionLagging',
                'ChainNotVoting',
              ],
            },
          ],
          advice: ['See the evidence, and what to do: `chain-agent monlog`.'],
          expr: `chain_consensus_finding{finding=~"${REPORTED.join('|')}"} == 1
  unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
          summary: 'The log of consensus shows a problem.',
          description:
            'The analysis of the last minute of the consensus log on {{ $labels.instance }} has found {{ $labels.finding }} for five minutes.',
        },
        {
          comment: 'Two sources disagree, so the cause is the endpoint and not the node: no page is needed.',
          alert: 'ChainMetricsZombie',
          severity: 'warning',
          component: 'consensus',
          for: '1m',
          explainedBy: [NODE_DOWN],
          advice: [
            'Do not rely on the metrics of consensus.',
            'If they come through the OpenTelemetry collector, restart it: `sudo systemctl restart otelcol`.',
          ],
          expr: 'chain_native_zombie == 1',
          summary: 'The metrics of consensus do not change while the node advances.',
          description:
            'An endpoint keeps serving old values of consensus to {{ $labels.instance }}, while the height of the RPC grows. The alerts that need those metrics cannot fire.',
        },
        {
          comment:
            'The uptime is exported while the metrics are live, from any endpoint. A restart is finished within five minutes. If the collector is disabled, the alert does not fire.',
          alert: 'ChainBlind',
          labels: { reading: 'consensus metrics' },
          severity: 'warning',
          component: 'consensus',
          for: '5m',
          explainedBy: [NODE_DOWN],
          advice: [
            'See which endpoints answer: `chain-agent status peers`.',
            'Enable the metrics of the node, or set `native.url`.',
          ],
          pending: 'nothing',
          expr: `(chain_agent_collector_enabled{collector="native"} == 1)
  unless on (instance, job, cluster) chain_native_uptime_seconds
  unless on (instance, job, cluster) (chain_native_zombie == 1)`,
          summary: 'No endpoint serves live metrics of consensus.',
          description:
            'The agent at {{ $labels.instance }} has had no live metrics of consensus for five minutes: endpoints do not answer, or their values do not change. The alerts on deadlock, isolation, votes, state roots and the active set cannot fire.',
        },
        {
          comment: 'Usually an old version, or one that has renamed them: it does not get worse by the hour.',
          alert: 'ChainBlind',
          labels: { reading: 'some consensus metrics' },
          severity: 'info',
          component: 'consensus',
          for: '15m',
          advice: [
            'See which metrics are missing: `chain-agent status peers`.',
            'Upgrade the node or the agent if a metric was renamed.',
          ],
          pending: 'nothing',
          expr: `chain_native_uptime_seconds
  unless on (instance, job, cluster) (
    chain_native_stake_ratio
      and on (instance, job, cluster) chain_native_upstream_validators
      and on (instance, job, cluster) chain_native_sessions{state="transport"}
      and on (instance, job, cluster) chain_native_events_total{event="vote_sent"}
  )`,
          summary: 'Consensus exports metrics, but some that alerts need are missing.',
          description:
            'Consensus at {{ $labels.instance }} has been up for {{ $value | humanizeDuration }} and does not export its stake, its upstream validators, its sessions or its votes. The alerts that need the missing metric cannot fire.',
        },
      ],
    },
  ],
}
