import { type Row } from '../frame.ts'
import { anyIs, limitsBy } from '../limits.ts'
import { ALERT_LIST, toPanel } from '../links.ts'
import { ABOUT_STATES, firing, FRESH, FRESH_WITHIN, STATE, STATES } from '../node-state.ts'
import { ABOUT_FEW, NETWORK_IN_TROUBLE, OWN_TIMEOUTS, OWN_TIMEOUTS_LIMITS } from '../own-timeouts.ts'
import { alertList, HISTORY, whatHappened } from '../overview.ts'
import { type Placed } from '../panels/panel.ts'
import { figures, tile } from '../panels/tile.ts'
import { NONE } from '../value-labels.ts'
import { DECISIVE, decisive } from './decisive.ts'

const SIZE = { width: 4, height: 3 }
/** Grafana draws no trend in a lower tile. */
const WITH_TREND = { width: 4, height: 5, trend: true }
const NOT_EVALUATED = 'No data: Prometheus does not evaluate the rules for this node.'

/** Whether the node is healthy: one figure for each question. */
const tiles: readonly Placed[] = [
  tile({
    ...SIZE,
    title: 'State',
    about: `What the node does. ${ABOUT_STATES} Begin with the oldest alert.`,
    alerts: ['ChainBlockStalled', 'ChainBehind', 'ChainAgentDown'],
    expr: STATE,
    unit: 'none',
    words: STATES,
    to: toPanel('node', HISTORY),
  }),
  figures({
    ...SIZE,
    title: 'Alerts',
    about: `Alerts that fire now, without those that a maintenance window inhibits: critical ones need action at once, warnings on the same day. The list below has each of them. ${NOT_EVALUATED}`,
    alerts: ['ChainWatchdog', 'ChainMaintenance'],
    lines: [
      { expr: firing('critical'), legend: 'critical', limits: anyIs('critical') },
      { expr: firing('warning'), legend: 'warnings', limits: anyIs('warning') },
    ],
    unit: 'locale',
    words: NONE,
    to: toPanel('node', ALERT_LIST),
  }),
  tile({
    ...SIZE,
    title: 'Services down',
    about:
      'Services that should run and do not. systemd does not restart consensus and execution: see `systemctl status` and the journal, then start them.',
    alerts: ['ChainServiceDown', 'ChainServiceDown.missing'],
    expr: `
      count by (job, instance) (chain_service_expected == 1 unless on (job, instance, service) (chain_service_active == 1))
      or on (job, instance)
      0 * count by (job, instance) (chain_service_expected)`,
    legend: 'of those expected',
    unit: 'locale',
    words: NONE,
    limits: anyIs('critical'),
    to: toPanel('storage', 'Services'),
  }),
  tile({
    ...SIZE,
    title: 'Own rounds timed out',
    about: `Share of the rounds that this node led in six hours and that gave no block. If the share of the network is above ${NETWORK_IN_TROUBLE}, the cause is not on this node. ${ABOUT_FEW}`,
    alerts: ['ChainLeaderTimeouts', 'ChainLeaderTimeouts.in-a-row'],
    empty: 'few rounds led',
    expr: OWN_TIMEOUTS,
    unit: 'percentunit',
    decimals: 1,
    limits: OWN_TIMEOUTS_LIMITS,
    to: toPanel('node', 'Rounds that timed out, own and of all'),
  }),
  tile({
    ...SIZE,
    title: 'Collectors without readings',
    about:
      'Collectors of the agent that are enabled and have no reading: their values are absent here, and the alerts on them cannot fire. The dashboard of the agent lists them.',
    alerts: ['ChainCollectorDown'],
    expr: `
      count by (job, instance) (chain_agent_collector_up == 0)
      or on (job, instance)
      0 * count by (job, instance) (chain_agent_collector_up)`,
    legend: 'of those enabled',
    unit: 'locale',
    words: NONE,
    limits: anyIs('warning'),
    to: toPanel('agent', 'Collectors without a reading'),
  }),
  tile({
    ...SIZE,
    title: 'Last contact',
    about:
      'Time since Prometheus last scraped the agent, within the time shown. While it grows, all other figures are absent.',
    alerts: ['ChainAgentDown', 'ChainAgentAbsent.node'],
    expr: 'time() - max by (job, instance) (max_over_time(timestamp(chain_agent_build_info)[$__range:1m]))',
    legend: 'with the agent, ago',
    unit: 's',
    decimals: 0,
    to: toPanel('agent', 'Agents'),
  }),
  tile({
    ...WITH_TREND,
    title: 'Newest block',
    about: 'Age of the newest block by its own timestamp. If it grows, no block arrives or the node is far behind.',
    alerts: ['ChainBlockStalled', 'ChainBlind'],
    expr: 'instance:chain_block_age:seconds',
    unit: 's',
    limits: limitsBy('ChainBlockStalled', 'instance:chain_block_age:seconds'),
    to: toPanel('node', DECISIVE.age),
  }),
  tile({
    ...WITH_TREND,
    title: 'Behind the network',
    about:
      'Time that the chain takes for the blocks that the node is behind the height on which the references agree; negative if it is ahead. No data: too few references agree.',
    alerts: ['ChainBehind', 'ChainBlind'],
    expr: 'instance:chain_behind:seconds',
    unit: 's',
    limits: limitsBy('ChainBehind', 'instance:chain_behind:seconds'),
    to: toPanel('node', DECISIVE.behind),
  }),
  tile({
    ...WITH_TREND,
    title: 'Blocksync window',
    about:
      'Blocks that the node can still fall behind before its peers no longer serve what it lacks. At 0 it recovers only with a newer forkpoint and statesync, or with a snapshot. Not applicable during a statesync.',
    alerts: ['ChainBlocksyncWindow', 'ChainBlind'],
    expr: 'chain_blocksync_window_remaining_blocks',
    unit: 'locale',
    limits: limitsBy('ChainBlocksyncWindow', 'chain_blocksync_window_remaining_blocks'),
    to: toPanel('node', DECISIVE.window),
  }),
  tile({
    ...WITH_TREND,
    title: 'Votes per round',
    about:
      'Votes that the node computed for each round that a quorum closed, also those that did not leave the host. Only validators in the active set have it. Well below 1 the validator follows and does not vote.',
    alerts: ['ChainNotVoting'],
    empty: 'not voting',
    expr: 'instance:chain_votes_per_round:ratio_rate2m',
    unit: 'percentunit',
    decimals: 1,
    limits: limitsBy('ChainNotVoting', 'instance:chain_votes_per_round:ratio_rate2m'),
    to: toPanel('node', 'Votes for each round'),
  }),
  tile({
    ...WITH_TREND,
    title: 'Fresh blocks, last hour',
    about: `Share of the last hour in which the newest block was at most ${FRESH_WITHIN} old; no data while the agent cannot be scraped. The dashboard of duties shows what is left of the budget of the week.`,
    alerts: ['ChainUptimeBudget.fast'],
    expr: FRESH,
    unit: 'percentunit',
    decimals: 1,
    limits: limitsBy('ChainUptimeBudget.fast', 'instance:chain_available:avg1h'),
    to: toPanel('duties', 'Share of time with a fresh block, one hour'),
  }),
  tile({
    ...WITH_TREND,
    title: 'Database used',
    about:
      'Used share of the database. From 80% on the node deletes old state by itself, which is normal. If it still grows there, free space or add a device before execution stops.',
    alerts: ['ChainStorageFull', 'ChainBlind'],
    expr: 'instance:chain_storage_used_ratio:max',
    unit: 'percentunit',
    decimals: 1,
    limits: limitsBy('ChainStorageFull', 'instance:chain_storage_used_ratio:max'),
    to: toPanel('node', 'Use of the database'),
  }),
]

/** The first screen: what is wrong, since when, and what else changed then. */
export const glance: Row = {
  panels: [alertList({ width: 12, height: 8 }), whatHappened({ width: 12, height: 8 }), ...tiles, ...decisive],
}
