import { type Row, frame } from '../frame.ts'
import { byNode, NODE, ratio, tokens } from '../columns.ts'
import { NODE_LABELS } from '../links.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { heightOf, table } from '../panels/table.ts'
import { lowest } from '../promql.ts'
import type { ValueLabels } from '../value-labels.ts'
import { alertList } from '../overview.ts'

const MEMBER: ValueLabels = { 0: ['NO MEMBER', 'critical'], 1: ['member', 'good'] }
const FLAGS: ValueLabels = {
  0: ['none', 'good'],
  1: ['stake low', 'critical'],
  2: ['withdrawn', 'critical'],
  3: ['double sign', 'critical'],
}
const READY: ValueLabels = { 0: ['not yet', 'good'], 1: ['ready', 'info'] }
const ANSWERS: ValueLabels = { 0: ['no answer', 'warning'], 1: ['answers', 'good'] }
const REGISTERED: ValueLabels = { 0: ['no', 'good'], 1: ['validator', 'good'] }
const BENEFICIARY: ValueLabels = { 0: ['UNEXPECTED', 'warning'], 1: ['expected', 'good'] }
const FIXED: ValueLabels = { 0: ['not fixed', 'good'], 1: ['fixed', 'good'] }

/** An operator has few. */
const VALIDATORS = 3

const MARGIN = limitsBy('ChainStakeLow.margin', 'chain_staking_margin_ratio')

const validators = table({
  title: 'Validators: set and stake',
  about:
    'Whether each validator is in the set, now and in the next epoch, and its stake in tokens. The current stake decides on the next set, the consensus view is frozen at the boundary block, the snapshot is the view before that. The margin is the current stake above the threshold, which is the minimum, or in a full set the stake of its weakest member; a flagged validator has neither margin nor rank. Of several flags the worst is shown. No row: the key of the node is no validator, or is not known.',
  alerts: ['ChainLeftActiveSet.staking', 'ChainStakeLow.next-epoch', 'ChainValidatorFlagged', 'ChainStakeLow.margin'],
  empty: 'no validators',
  width: 24,
  height: heightOf(VALIDATORS),
  ...NODE,
  sortBy: { title: 'Margin', descending: false },
  columns: [
    { title: 'Set now', expr: byNode('chain_staking_active'), unit: 'none', words: MEMBER },
    { title: 'Next epoch', expr: byNode('chain_staking_active_next'), unit: 'none', words: MEMBER, empty: 'not fixed' },
    {
      title: 'Flag',
      expr: byNode(`
        chain_staking_flag{flag="stake_low"}
        or 2 * chain_staking_flag{flag="withdrawn"}
        or 3 * chain_staking_flag{flag="double_sign"}`),
      unit: 'none',
      words: FLAGS,
    },
    { ...ratio('Margin', 'chain_staking_margin_ratio', 1), limits: MARGIN, empty: 'none' },
    tokens('Threshold', 'chain_staking_threshold_tokens'),
    tokens('Stake', 'chain_staking_stake_tokens{view="execution"}'),
    tokens('Consensus view', 'chain_staking_stake_tokens{view="consensus"}'),
    tokens('Snapshot', 'chain_staking_stake_tokens{view="snapshot"}'),
    { ...tokens('Rank', 'chain_staking_rank'), empty: 'none' },
    tokens('Set size', 'chain_staking_set_members{view="consensus"} and on (job, instance) chain_staking_active'),
  ],
})

const allAndOwn = (title: string, name: string) => [
  tokens(`${title}, all`, `chain_staking_${name}`),
  tokens(`${title}, own`, `chain_staking_self_${name}`),
]

const amounts = table({
  title: 'Commission and amounts',
  about:
    'Current commission, and that of the consensus view; other amounts in tokens. The self-stake is the stake of the authority, which needs the minimum. Pending: of all delegators the change at the next boundary, of the authority delegations that do not count yet. Unclaimed: in the pool of all delegators, and of the authority with its commission. Rewards are without priority fees; `chain-agent duties` prints them by epoch. A commission that you did not change: see the authority key. Expected beneficiary: `staking.expected` in the configuration; it is that of the newest own block. Balance: of the authority, which pays for staking transactions.',
  alerts: ['ChainStakingMismatch.commission-changed', 'ChainStakingMismatch', 'ChainStakeLow.self-stake'],
  empty: 'no validators',
  width: 24,
  height: heightOf(VALIDATORS),
  ...NODE,
  columns: [
    ratio('Commission', 'chain_staking_commission_ratio{view="execution"}', 1),
    { ...ratio('In consensus', 'chain_staking_commission_ratio{view="consensus"}', 1), empty: 'no member' },
    {
      title: 'Beneficiary',
      expr: byNode('chain_staking_beneficiary_matches'),
      unit: 'none',
      words: BENEFICIARY,
      empty: 'unknown',
    },
    tokens('Self-stake', 'chain_staking_self_stake_tokens'),
    tokens('Minimum', 'chain_staking_self_stake_minimum_tokens'),
    { ...tokens('Balance', 'chain_staking_authority_balance_tokens'), empty: 'unknown' },
    ...allAndOwn('Pending', 'pending_tokens'),
    ...allAndOwn('Unclaimed', 'unclaimed_reward_tokens'),
    tokens('Pool, 1 d', 'increase(chain_staking_reward_tokens_total{share="pool"}[1d])'),
    tokens('Comm., 1 d', 'increase(chain_staking_reward_tokens_total{share="commission"}[1d])'),
  ],
})

const epoch = table({
  title: 'Epoch',
  about:
    'The epoch that each node reports. The boundary block fixes the set of the next epoch, which starts some minutes later; both times are estimates by the pace of the blocks, the start of the epoch at the latest. If it has passed by minutes, the network is late: do not restart consensus until the epoch has started. Age is that of the block of the readings. An old one: see the RPC of the node.',
  alerts: ['ChainRpcDown'],
  width: 18,
  height: 8,
  ...NODE,
  sortBy: { title: 'Age', descending: true },
  columns: [
    { title: 'Precompile', expr: byNode('chain_staking_up'), unit: 'none', words: ANSWERS },
    { title: 'Registered', expr: byNode('chain_staking_registered'), unit: 'none', words: REGISTERED },
    tokens('Epoch', 'chain_staking_epoch'),
    ratio('Progress', 'chain_staking_epoch_progress_ratio'),
    tokens('Boundary block', 'chain_staking_boundary_block'),
    { title: 'In', expr: byNode('chain_staking_boundary_timestamp_seconds - time()'), unit: 's', past: 'good' },
    { title: 'Next set', expr: byNode('chain_staking_in_epoch_delay'), unit: 'none', words: FIXED },
    {
      title: 'Next epoch in',
      expr: byNode('chain_staking_next_epoch_timestamp_seconds - time()'),
      unit: 's',
      past: 'good',
    },
    { title: 'Age', expr: byNode('time() - chain_staking_block_timestamp_seconds'), unit: 's' },
  ],
})

const withdrawals = table({
  title: 'Withdrawal requests',
  about:
    'The requests in `staking.withdrawals`, until they are withdrawn. One that is ready earns nothing: withdraw it.',
  alerts: ['ChainStakeLow'],
  empty: 'none',
  width: 6,
  height: 8,
  keys: { instance: 'Node', request: 'Request' },
  hidden: NODE_LABELS,
  columns: [
    {
      title: 'Tokens',
      expr: 'max by (job, instance, request) (chain_staking_withdrawal_tokens)',
      unit: 'locale',
      decimals: 0,
    },
    {
      title: 'Status',
      expr: 'max by (job, instance, request) (chain_staking_withdrawal_ready)',
      unit: 'none',
      words: READY,
    },
  ],
})

const stake: Row = {
  title: 'Set, stake and rewards',
  panels: [
    validators,
    amounts,
    graph({
      title: 'Margin above the threshold',
      about:
        'Current stake above that which a member needs, as a ratio of it, of the validators with the least. A line ends where a flag is set.',
      alerts: ['ChainStakeLow.margin'],
      empty: 'no validators',
      unit: 'percentunit',
      decimals: 1,
      width: 12,
      height: 7,
      limits: MARGIN,
      lines: [{ expr: lowest(byNode('chain_staking_margin_ratio')), legend: '{{instance}}' }],
    }),
    graph({
      title: 'Rewards in an hour',
      about:
        'Tokens that the selected validators earned within an hour, without priority fees. None: the validator leads no rounds, or they time out.',
      alerts: ['ChainLeaderTimeouts', 'ChainLeftActiveSet.staking'],
      empty: 'no validators',
      unit: 'locale',
      decimals: 0,
      width: 12,
      height: 7,
      min: 0,
      stacked: true,
      lines: [
        {
          expr: 'sum(increase(chain_staking_reward_tokens_total{share="pool"}[1h]))',
          legend: 'pool of all delegators',
        },
        { expr: 'sum(increase(chain_staking_reward_tokens_total{share="commission"}[1h]))', legend: 'commission' },
      ],
    }),
  ],
}

const epochs: Row = { title: 'Epochs and withdrawals', panels: [epoch, withdrawals] }

export const stakingDashboard = () =>
  frame({
    name: 'staking',
    description:
      'Validators: membership of the set, stake, commission, rewards and withdrawals. It needs the collector `staking`. Limits are those of the alert rules.',
    from: 'now-24h',
    rows: [{ panels: [alertList({ width: 24, height: 7, many: true })] }, stake, epochs],
  })
