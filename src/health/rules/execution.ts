import { period, ruleFile } from './rule.ts'

/** The references that answered with the block of the compared height, and those of them with another block. */
const COMPARED = 'count by (instance, job, cluster) (chain_reference_hash_matches)'
const DIFFERENT = 'count by (instance, job, cluster) (chain_reference_hash_matches == 0)'

export const execution = ruleFile({ name: 'execution', component: 'execution', for: '1h' }, [
  {
    comment:
      'Share of the transactions that were executed again because of a conflict; from 50 transactions on, as a few say nothing. No alert: conflicts follow from what users send, and are the same on every node.',
    record: 'instance:chain_execution_retried:ratio10m',
    expr: `increase(chain_execution_retried_transactions_total[10m])
  / on (instance, job, cluster)
(increase(chain_execution_transactions_total[10m]) >= 50)`,
  },
  {
    comment:
      'A third of the time that a block has: a validator votes 300 ms after the vote before at the earliest (monad-chain-config/src/revision.rs, vote_pace of CHAIN_PARAMS_V_0_12_0; 400 ms until V_0_11_0). A busy hour of a healthy node stays below. The median is above a bucket bound if less than half of the blocks are in the bucket: this is exact, while an interpolated quantile is an estimate. No block at all is 0/0, and no alert. No page: it is early, and ChainBehind and ChainBlockStalled are not.',
    alert: 'ChainExecutionSlow',
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
    summary: 'execution takes too long for a block',
    description: (limit) =>
      `Of the blocks of the last 2 minutes {{ $labels.instance }} executed {{ $value | humanizePercentage }} within ${limit * 1000} ms, less than half: the median is above it. Next, consensus has to wait for execution.`,
  },
  {
    comment: 'A single event happens on a healthy node and is harmless.',
    alert: 'ChainExecutionSlow.lagging',
    limit: 0.1,
    for: '5m',
    advice: [
      'Check the execution time: `chain-agent status execution`.',
      'Check the drives, heat and other processes: `chain-agent status host`.',
    ],
    expr: (limit) => `rate(chain_native_events_total{event="execution_lagging"}[2m]) > ${limit}`,
    summary: 'execution does not keep up with consensus',
    description: (limit) =>
      `Consensus on {{ $labels.instance }} reported execution as lagging {{ $value | printf "%.2f" }} times a second, more than ${limit}, for 5 minutes.`,
  },
  {
    comment:
      'The hash of a block covers its state root and the hash of its parent: after one wrong block every later one differs, and finalized blocks do not change. Thirty seconds are three comparisons, each at a new height while the node advances. One reference, or one of two, proves nothing: it or the node is wrong. Then consensus must be the second observer: a node with a wrong state rejects nearly every block, two to three a second, for its results, and one wrong leader causes a small part of that.',
    alert: 'ChainStateDiverged',
    page: 'Answers of the RPC may be wrong.',
    limit: 0.5,
    for: '30s',
    pending: 'warning',
    advice: [
      'Do not serve users from this RPC.',
      'Save the logs: `chain-agent bundle`.',
      'See how to recover: `chain-agent recover`.',
    ],
    expr: (limit) => `${DIFFERENT}
  >= on (instance, job, cluster) 0.5 * ${COMPARED}
  and on (instance, job, cluster) (
    ${DIFFERENT}
      > on (instance, job, cluster) 0.5 * ${COMPARED}
      and on (instance, job, cluster) (${COMPARED} >= 2)
    or
    rate(chain_native_events_total{event="bad_state_root"}[2m]) > ${limit}
  )`,
    summary: 'the database is wrong: its blocks differ from those of the network',
    description: (limit) =>
      `{{ $value }} of the references have another hash or state root than {{ $labels.instance }} at the same finalized height: a majority of two or more, or as many as agree while consensus rejects more than ${limit} blocks a second for their results. The answers of its RPC are wrong, and a restart does not change that.`,
  },
  {
    comment: 'About the reference, and not about the node, until a majority differs: no page.',
    alert: 'ChainStateDiverged.reference-differs',
    component: 'sync',
    for: '2m',
    pending: 'nothing',
    explainedBy: [{ alerts: ['ChainStateDiverged'] }],
    advice: [
      'Compare the block with a third source: see the runbook.',
      'If the reference is wrong, replace it: `references` in the configuration.',
    ],
    expr: 'chain_reference_hash_matches == 0',
    summary: "another finalized block than the node's at the reference {{ $labels.reference }}",
    description:
      'For two minutes the reference {{ $labels.reference }} has had another hash or state root than {{ $labels.instance }} at the same finalized height. Without a majority of at least two references this proves nothing about the node: the reference may be wrong, or of another chain.',
  },
  {
    comment:
      'Consensus counts each check of a received block whose results differ from its own: a wrong leader makes the counter of every healthy node grow. A node with a wrong state rejects nearly every block, two to three a second; 0.5 a second are a fifth of the blocks, which no single leader proposes. It does not page: ChainStateDiverged has the proof.',
    alert: 'ChainStateDiverged.bad-state-root',
    limit: 0.5,
    for: '1m',
    explainedBy: [{ alerts: ['ChainStateDiverged'] }],
    advice: [
      'Compare the blocks with the references: `chain-agent status chain`.',
      'Restore nothing because of this alert alone: the blocks of others may be wrong.',
    ],
    expr: (limit) => `rate(chain_native_events_total{event="bad_state_root"}[2m]) > ${limit}`,
    summary: 'consensus rejects many blocks for results that differ from its own',
    description: (limit) =>
      `Consensus on {{ $labels.instance }} rejects {{ $value | printf "%.1f" }} received blocks a second, more than ${limit}, whose execution results differ from its own. If it is nearly every block, the state of this node may be wrong; if it is a part of them, their leaders are. Compare with the references before you do anything.`,
  },
  {
    comment:
      'The sum adds 0 to the remaining time, and copies the label check into the alert: it names the requirement. It keeps firing after the fork: then the node has left the chain, or is about to. Below 12 hours it pages: by the evening for a fork before the next noon. An upgrade and the migration of the database take minutes, and a failed one needs time to be repaired.',
    alert: 'ChainForkNotReady',
    limit: 604800,
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
    summary: 'the node is not ready for the fork {{ $labels.fork }}: {{ $labels.check }}',
    description: (limit) =>
      `{{ $labels.instance }} is not ready for {{ $labels.fork }} by the check of the {{ $labels.check }}; it {{ if gt $value 0.0 }}takes effect in {{ $value | humanizeDuration }}, less than ${period(limit)}{{ else }}is in force{{ end }}. If this is not fixed, the node cannot follow the chain.`,
  },
  {
    alert: 'ChainBlind.fork-readiness',
    limit: 604800,
    pending: 'nothing',
    advice: [
      'Compare the version and the database with the release notes of the network.',
      'See which source is missing: `chain-agent status versions`.',
    ],
    expr: (limit) => `chain_fork_activation_timestamp_seconds - time() < ${limit} > 0
unless on (instance, job, cluster, fork) chain_fork_ready`,
    summary: 'it is unknown whether the node is ready for the fork {{ $labels.fork }}',
    description: (limit) =>
      `{{ $labels.fork }} takes effect in {{ $value | humanizeDuration }}, less than ${period(limit)}, and for an hour it has been unknown whether {{ $labels.instance }} meets its requirements: ChainForkNotReady cannot fire.`,
  },
  {
    alert: 'ChainUpgradeDue.restart',
    severity: 'info',
    advice: ['Restart execution, consensus and RPC together at a convenient time.'],
    expr: 'chain_version_mismatch == 1',
    summary: 'the node runs another version than the installed one',
    description:
      'For an hour {{ $labels.instance }} has run another version than the installed one: a restart is pending, and an unplanned restart would be an upgrade.',
  },
  {
    comment:
      'apt may offer a release days before it is announced for a network, and operators hold the package: information, once it has been there for an hour.',
    alert: 'ChainUpgradeDue.package',
    severity: 'info',
    pending: 'nothing',
    advice: [
      'See both versions: `chain-agent status versions`.',
      'Read the announcements of your network: upgrade when they ask for it, not before.',
    ],
    expr: 'chain_package_upgrade_available == 1',
    summary: 'a newer version of the node is available',
    description:
      'For an hour apt has offered a newer version of the node than the one that is installed on {{ $labels.instance }}.',
  },
  {
    comment:
      'Between two forks of a network there were three weeks to six months: a list that is 60 days old may lack the next one, and ChainForkNotReady cannot fire for it.',
    alert: 'ChainUpgradeDue.fork-list',
    severity: 'info',
    component: 'agent',
    limit: 5184000,
    advice: [
      'Upgrade the agent, if there is a newer release: the list is compared before each.',
      'Or read the announcements of your network, and renew the list with `reviewed` in `version.forksFile`.',
    ],
    expr: (limit) => `time() - chain_forks_reviewed_timestamp_seconds > ${limit}`,
    summary: 'the list of forks may lack the next one',
    description: (limit) =>
      `The list of forks of the agent on {{ $labels.instance }} was last compared with the public sources {{ $value | humanizeDuration }} ago, more than ${period(limit)}: a fork that was announced since then is not in it.`,
  },
])
