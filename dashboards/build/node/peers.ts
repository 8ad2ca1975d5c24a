import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { figures } from '../panels/tile.ts'
import { timeline } from '../panels/timeline.ts'
import { alarm } from '../value-labels.ts'
import { type Placed } from '../panels/panel.ts'

/** Peers, and the metrics that the node itself exports. */
export const peers: readonly Placed[] = [
  graph({
    title: 'Sessions',
    about:
      'Sessions of the authenticated transport. Falling while the number of known peers stays: the node is being cut off. Look at its ports and at its address.',
    alerts: ['ChainIsolated', 'ChainSessionsLow'],
    unit: 'locale',
    decimals: 0,
    width: 8,
    min: 0,
    limits: limitsBy(
      { alert: 'ChainIsolated', metric: 'chain_native_sessions{state="transport"}' },
      { alert: 'ChainSessionsLow', metric: 'chain_native_sessions{state="transport"}' },
    ),
    names: ['transport', 'total', 'initiating'],
    lines: [{ expr: 'chain_native_sessions', legend: '{{state}}' }],
  }),
  graph({
    title: 'Known peers',
    about:
      'Peers that consensus has discovered, and what the status report says. Not an alert by itself: it stays while the node is cut off.',
    alerts: ['ChainIsolated'],
    unit: 'locale',
    decimals: 0,
    width: 8,
    min: 0,
    lines: [
      { expr: 'chain_native_peers', legend: 'discovered' },
      { expr: 'chain_status_peers', legend: 'by the status report' },
    ],
  }),
  graph({
    title: 'Who feeds whom',
    about:
      'Validators that feed this full node, and full nodes that it feeds. A full node with fewer than two for half an hour is on its way into a deadlock of timeouts.',
    alerts: ['ChainUpstreamThin'],
    unit: 'locale',
    decimals: 0,
    width: 8,
    min: 0,
    limits: limitsBy({
      alert: 'ChainUpstreamThin',
      metric: 'chain_native_upstream_validators',
    }),
    lines: [
      { expr: 'chain_native_upstream_validators', legend: 'feed this node' },
      { expr: 'chain_native_downstream_nodes', legend: 'are fed by it' },
    ],
  }),
  graph({
    title: 'Errors of the network layer',
    about:
      'Errors in five minutes by kind, and how many peers are behind them. One peer alone is his own trouble; several at once: look at the clock and at the version.',
    alerts: ['ChainNetworkNoise'],
    unit: 'locale',
    decimals: 0,
    width: 8,
    min: 0,
    names: ['all kinds', 'decrypt', 'session_timeout', 'timestamp', 'peers behind them'],
    limits: limitsBy({
      alert: 'ChainNetworkNoise',
      metric: 'chain_consensus_network_errors_total',
    }),
    lines: [
      {
        expr: 'sum by (job, instance) (increase(chain_consensus_network_errors_total[5m]))',
        legend: 'all kinds',
      },
      { expr: 'increase(chain_consensus_network_errors_total[5m])', legend: '{{kind}}' },
      { expr: 'chain_consensus_network_error_peers', legend: 'peers behind them' },
    ],
  }),
  graph({
    title: 'Warnings and errors in the log of consensus',
    about:
      'Lines a second. What they say is in the row Services, by pattern; many without a pattern: read the journal.',
    alerts: ['ChainLogTrouble'],
    unit: 'suffix:lines/s',
    decimals: 2,
    width: 8,
    min: 0,
    names: ['warning', 'error'],
    lines: [
      {
        expr: 'rate(chain_consensus_messages_total{kind=~"warning|error"}[$__rate_interval])',
        legend: '{{kind}}',
      },
    ],
  }),
  graph({
    title: 'Rounds and blocks by who tells them',
    about:
      'How far the round of each witness is from the newest round in the ledger stream. One that falls back has stopped.',
    alerts: ['ChainLogsIncomplete', 'ChainMetricsZombie'],
    unit: 'locale',
    decimals: 0,
    width: 8,
    lines: [
      {
        expr: 'chain_consensus_round - on (job, instance) chain_ledger_round{event="proposed"}',
        legend: 'consensus log',
      },
      {
        expr: 'chain_ledger_round{event="finalized"} - on (job, instance) chain_ledger_round{event="proposed"}',
        legend: 'final in the ledger stream',
      },
    ],
  }),
  timeline({
    title: 'What consensus needs, and whether its metrics live',
    about:
      'Statesync and blocksync as the node itself asks for them; sources of its metrics that give none, metrics that do not change, and those that do not while the node moves on. Statesync is no fault; the others are.',
    alerts: ['ChainStatesync', 'ChainMetricsZombie', 'ChainBlind'],
    width: 12,
    words: alarm('YES', 'warning'),
    lines: [
      { expr: 'chain_native_statesync_active', legend: 'statesync, by consensus' },
      { expr: 'chain_consensus_statesync_active', legend: 'statesync, by the log' },
      { expr: 'chain_consensus_blocksync_active', legend: 'blocksync, by the log' },
      { expr: '1 - chain_consensus_committing', legend: 'no block is committed' },
      { expr: '1 - chain_native_up', legend: 'no metrics from {{source}}' },
      { expr: 'chain_native_frozen', legend: 'metrics stand still' },
      { expr: 'chain_native_zombie', legend: 'metrics are a zombie' },
    ],
  }),
  timeline({
    title: 'Findings of the log analysis',
    about:
      'Problems that the analysis of the consensus log has found, while they apply. The runbook of the alert explains each. No data if there are none.',
    alerts: ['ChainConsensusFinding', 'ChainConsensusDeadlock', 'ChainNotVoting'],
    width: 12,
    words: alarm('applies', 'warning'),
    lines: [
      {
        expr: 'chain_consensus_finding == 1',
        legend: '{{finding}}',
      },
    ],
  }),
  figures({
    title: 'Where the chain is',
    about: 'Epoch and round by the ledger stream, the log and the status report.',
    alerts: ['ChainBlockStalled'],
    unit: 'locale',
    width: 16,
    lines: [
      { expr: 'chain_ledger_epoch{event="proposed"}', legend: 'epoch, ledger' },
      { expr: 'chain_consensus_epoch', legend: 'epoch, log' },
      { expr: 'chain_status_epoch', legend: 'epoch, report' },
      { expr: 'chain_ledger_round{event="proposed"}', legend: 'round, ledger' },
      { expr: 'chain_consensus_round', legend: 'round, log' },
      { expr: 'chain_status_round', legend: 'round, report' },
    ],
  }),
  figures({
    title: 'Share of the stake',
    about:
      'What decides how often this node leads. 0 is outside the active set, where it neither leads nor votes; a full node has none.',
    alerts: ['ChainLeftActiveSet'],
    unit: 'percentunit',
    decimals: 3,
    width: 8,
    lines: [{ expr: 'chain_native_stake_ratio', legend: 'of the network' }],
  }),
]
