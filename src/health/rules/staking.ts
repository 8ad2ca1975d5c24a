import { NODE_VARIABLES, percent, ruleFile } from './rule.ts'

const HEADER = {
  name: 'staking',
  component: 'duty',
  dashboard: `d/chain-staking?${NODE_VARIABLES}`,
  comment: 'What the staking precompile of the chain reports about the validator.',
} as const

export const staking = ruleFile(HEADER, [
  {
    comment:
      'Also without the metrics of consensus. It does not fire for a node that was never in the set. It fires for seven days, also after a deliberate exit: a warning, not a page.',
    alert: 'ChainLeftActiveSet.staking',
    for: '5m',
    explainedBy: [{ alerts: ['ChainLeftActiveSet'] }],
    advice: [
      'See stake, flags and threshold: `curl -s localhost:9843/metrics | grep ^chain_staking_`.',
      'Restore the stake: it counts from the next boundary block on.',
    ],
    expr: `max_over_time(chain_staking_active[7d]) > 0
  and on (instance, job, cluster) (chain_staking_active == 0)`,
    summary: 'the validator is outside the active set, by the staking precompile',
    description:
      'The validator of {{ $labels.instance }} is no member of the set in force; within seven days it was. It neither leads nor votes, and earns nothing.',
  },
  {
    comment: 'Known from the boundary block on; no stake can change it for the next epoch: nothing to do at night.',
    alert: 'ChainStakeLow.next-epoch',
    for: '2m',
    advice: [
      'See stake, flags and threshold: `curl -s localhost:9843/metrics | grep ^chain_staking_`.',
      'Restore the stake before the next boundary block: the validator is back one epoch later.',
    ],
    expr: `chain_staking_active == 1
  and on (instance, job, cluster) (chain_staking_active_next == 0)`,
    summary: 'the validator leaves the active set with the next epoch',
    description:
      'The validator of {{ $labels.instance }} is a member of the current set but not of the set of the next epoch, which is fixed.',
  },
  {
    comment:
      'The next boundary block decides by the current stake. Two percent: other delegators move as much in a day. What moves it is the stake of others, and new stake takes the keys of its owner: no page.',
    alert: 'ChainStakeLow.margin',
    limit: 0.02,
    for: '10m',
    advice: [
      'Compare stake and threshold: `curl -s localhost:9843/metrics | grep -E "^chain_staking_(stake|threshold|pending)"`.',
      'Delegate more before the next boundary block: `chain_staking_boundary_timestamp_seconds`.',
    ],
    expr: (limit) => `chain_staking_margin_ratio < ${limit}
  and on (instance, job, cluster) (chain_staking_active == 1)`,
    summary: 'the stake is close to the threshold of the active set, or below it',
    description: (limit) =>
      `The stake of the validator of {{ $labels.instance }} differs from the threshold by {{ $value | humanizePercentage }}, less than ${percent(limit)}. Below the threshold at the boundary block, it leaves the set.`,
  },
  {
    comment:
      'For a day, so that each change is read by a person. A new agent has no earlier value; VictoriaMetrics counts its first one in changes().',
    alert: 'ChainStakingMismatch.commission-changed',
    component: 'security',
    advice: [
      'Ask the holders of the authority key whether they changed it.',
      'If none of them did, treat the key as stolen: move the stake, and contact the security team.',
    ],
    expr: `max_over_time(chain_staking_commission_ratio{view="execution"}[1d])
  - min_over_time(chain_staking_commission_ratio{view="execution"}[1d]) > 0`,
    summary: 'the commission of the validator was changed',
    description:
      'The commission of the validator of {{ $labels.instance }} has changed by {{ $value | humanizePercentage }} within a day. It counts from the next boundary block on.',
  },
  {
    comment: 'Only with the setting, and once this node has led a block that is finalized.',
    alert: 'ChainStakingMismatch.beneficiary',
    component: 'security',
    for: '2m',
    advice: [
      'See the address: `chain-agent events --collector staking`.',
      'Correct `beneficiary` in node.toml, and restart consensus at a safe time: `chain-agent restart-window`.',
    ],
    expr: 'chain_staking_beneficiary_matches == 0',
    summary: 'the beneficiary of own blocks is not the expected one',
    description:
      'The newest finalized block that {{ $labels.instance }} led has another beneficiary than `staking.expected.beneficiary`.',
  },
  {
    comment:
      'Only with the setting: an authority that is a contract, or that makes no transactions, needs no balance, and the validator signs and earns without one.',
    alert: 'ChainStakingMismatch.balance',
    for: '2m',
    advice: [
      'See the address: `chain-agent status staking`. Send tokens to it.',
      'If no operator made a transaction with it, see its runbook: the authority key may be stolen.',
    ],
    expr: 'chain_staking_authority_balance_tokens < chain_staking_authority_balance_minimum_tokens',
    summary: 'the authority of the validator has less balance than expected',
    description:
      'The authority of the validator of {{ $labels.instance }} has {{ $value | humanize }} tokens, less than `staking.expected.authorityBalance`: it may be unable to pay for staking transactions.',
  },
  {
    alert: 'ChainValidatorFlagged',
    page: 'Until the cause is removed the validator is in no further set; `double_sign` means that a second host signs with its key.',
    for: '2m',
    advice: [
      'stake_low: restore the stake of the authority and of all delegators above the minimum.',
      'double_sign: stop the second host with this key at once.',
    ],
    expr: `chain_staking_flag == 1
  and on (instance, job, cluster) (max_over_time(chain_staking_active[7d]) > 0)`,
    summary: 'the flag {{ $labels.flag }} excludes the validator from the next set',
    description:
      'The validator of {{ $labels.instance }} has the flag {{ $labels.flag }}: it is no candidate for the set at the next boundary block.',
  },
  {
    comment: 'The flag follows with the next delegation or undelegation.',
    alert: 'ChainStakeLow.self-stake',
    for: '10m',
    advice: ['Delegate from the authority address before the next boundary block.'],
    expr: `chain_staking_self_stake_tokens < chain_staking_self_stake_minimum_tokens
  and on (instance, job, cluster) (max_over_time(chain_staking_active[7d]) > 0)`,
    summary: 'the authority of the validator has less stake than a member needs',
    description:
      'The authority of the validator of {{ $labels.instance }} has {{ $value | humanize }} tokens of its own at stake, less than the minimum.',
  },
])
