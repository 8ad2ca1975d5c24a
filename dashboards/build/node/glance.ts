import { type Row } from '../frame.ts'
import { anyIs, limitsBy } from '../limits.ts'
import { ABOUT_FEW, NETWORK_IN_TROUBLE, OWN_TIMEOUTS, OWN_TIMEOUTS_LIMITS } from '../own-timeouts.ts'
import { tile } from '../panels/tile.ts'
import { ABOUT_STATES, firing, FRESH, FRESH_WITHIN, STATE, STATES } from '../node-state.ts'

export const glance: Row = {
  title: 'At a glance',
  panels: [
    tile({
      title: 'State',
      about: `What the node is doing, in a word. ${ABOUT_STATES} Begin with the worst alert.`,
      alerts: ['ChainBlockStalled', 'ChainBehind', 'ChainServiceDown', 'ChainAgentDown'],
      expr: STATE,
      unit: 'none',
      words: STATES,
      width: 4,
    }),
    tile({
      title: 'Newest block is old',
      about:
        'Age of the newest block by its own time, as the ledger stream or the RPC tells it. When it grows no block comes, or the node is far behind: look at the rows Chain and Consensus.',
      alerts: ['ChainBlockStalled', 'ChainBlind'],
      expr: 'instance:chain_block_age:seconds',
      unit: 's',
      limits: limitsBy({ alert: 'ChainBlockStalled', metric: 'instance:chain_block_age:seconds' }),
      width: 4,
    }),
    tile({
      title: 'Behind the network',
      about:
        'Time that the chain takes for the blocks that the node is behind the agreed height of the references; negative when ahead of them. No data: too few references agree.',
      alerts: ['ChainBehind', 'ChainBlind'],
      expr: 'instance:chain_behind:seconds',
      unit: 's',
      limits: limitsBy({ alert: 'ChainBehind', metric: 'instance:chain_behind:seconds' }),
      width: 4,
    }),
    tile({
      title: 'Blocks until statesync',
      about:
        'Blocks that the node can still fall behind before its peers no longer serve what it lacks. At 0 only statesync or a snapshot brings it back: start what is down before that.',
      alerts: ['ChainBlocksyncWindow', 'ChainBlind'],
      expr: 'chain_blocksync_window_remaining_blocks',
      unit: 'locale',
      limits: limitsBy({
        alert: 'ChainBlocksyncWindow',
        metric: 'chain_blocksync_window_remaining_blocks',
      }),
      width: 4,
    }),
    tile({
      title: 'Critical alerts',
      about:
        'Alerts that wake somebody, firing now. The row Services lists them; each has a runbook. No data: Prometheus does not evaluate our rules for this node.',
      alerts: ['ChainAgentDown'],
      expr: firing('critical'),
      legend: 'firing now',
      unit: 'locale',
      words: { 0: ['none', 'good'] },
      limits: anyIs('critical'),
      width: 4,
    }),
    tile({
      title: 'Warnings',
      about: 'Alerts for today, firing now. No data: Prometheus does not evaluate our rules for this node.',
      alerts: ['ChainCollectorDown'],
      expr: firing('warning'),
      legend: 'firing now',
      unit: 'locale',
      words: { 0: ['none', 'good'] },
      limits: anyIs('warning'),
      width: 4,
    }),
    tile({
      title: 'Services down',
      about:
        'Services that should run and do not. Consensus and execution are not started again by themselves: systemctl status, the journal, then start them.',
      alerts: ['ChainServiceDown', 'ChainServiceMissing'],
      expr: `
        count by (job, instance) (chain_service_expected == 1 unless on (job, instance, service) (chain_service_active == 1))
        or on (job, instance)
        0 * count by (job, instance) (chain_service_expected)`,
      legend: 'of those expected',
      unit: 'locale',
      words: { 0: ['none', 'good'] },
      limits: anyIs('critical'),
      width: 4,
    }),
    tile({
      title: 'Votes per round',
      about:
        'Votes cast for each round that a quorum closed; there for validators in the active set alone. Well below 1 the validator follows and does not vote.',
      alerts: ['ChainNotVoting'],
      expr: 'instance:chain_votes_per_round:ratio_rate2m',
      unit: 'percentunit',
      decimals: 1,
      limits: limitsBy({
        alert: 'ChainNotVoting',
        metric: 'instance:chain_votes_per_round:ratio_rate2m',
      }),
      width: 4,
    }),
    tile({
      title: 'Own rounds timed out',
      about: `Share of the rounds that this node led in six hours and that gave no block. Compare with the network in the row Consensus: above ${NETWORK_IN_TROUBLE} there, the trouble is not of this node. ${ABOUT_FEW}`,
      alerts: ['ChainLeaderTimeouts', 'ChainLeaderTimeoutsInARow'],
      expr: OWN_TIMEOUTS,
      unit: 'percentunit',
      decimals: 1,
      limits: OWN_TIMEOUTS_LIMITS,
      width: 4,
    }),
    tile({
      title: 'Database is full to',
      about:
        'Used share of the database. Above the first limit the node drops old state by itself, which is normal; when it still grows there, make room or add a device before execution ends.',
      alerts: ['ChainStorageCompacting', 'ChainStorageFull', 'ChainBlind'],
      expr: 'instance:chain_storage_used_ratio:max',
      unit: 'percentunit',
      decimals: 1,
      limits: limitsBy(
        { alert: 'ChainStorageCompacting', metric: 'instance:chain_storage_used_ratio:max' },
        { alert: 'ChainStorageFull', metric: 'instance:chain_storage_used_ratio:max' },
      ),
      width: 4,
    }),
    tile({
      title: 'Fresh blocks, last hour',
      about: `Share of the last hour with a newest block of at most ${FRESH_WITHIN}; no data while the agent cannot be scraped. The dashboard of duties shows what is left of the budget of the week.`,
      alerts: ['ChainUptimeBudgetFast'],
      expr: FRESH,
      unit: 'percentunit',
      decimals: 2,
      limits: limitsBy({
        alert: 'ChainUptimeBudgetFast',
        metric: 'instance:chain_available:avg1h',
      }),
      width: 4,
    }),
    tile({
      title: 'Collectors without readings',
      about:
        'Collectors of the agent that are turned on and give no readings: what they would tell is absent here, and its alerts cannot fire. The row Agent names them.',
      alerts: ['ChainCollectorDown'],
      expr: `
        count by (job, instance) (
          chain_agent_collector_enabled == 1 unless on (job, instance, collector) (chain_agent_collector_up == 1)
        )
        or on (job, instance)
        0 * count by (job, instance) (chain_agent_collector_enabled)`,
      legend: 'of those enabled',
      unit: 'locale',
      words: { 0: ['none', 'good'] },
      limits: anyIs('warning'),
      width: 4,
    }),
  ],
}
