import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { figures } from '../panels/tile.ts'
import { timeline } from '../panels/timeline.ts'
import { alarm } from '../value-labels.ts'

/** Peers, and whether the metrics and the log of consensus can be trusted. */
export const peers: Row = {
  title: 'Peers, and what consensus reports',
  panels: [
    graph({
      title: 'Known peers',
      about:
        'Peers that consensus has discovered, and that the status report has. It is no sign of a connection: the number stays while the node is cut off. The sessions are on the dashboard of the node.',
      alerts: ['ChainIsolated'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      lines: [
        { expr: 'chain_native_peers', legend: 'discovered' },
        { expr: 'chain_status_peers', legend: 'in the status report' },
      ],
    }),
    graph({
      title: 'Upstream validators and downstream nodes',
      about:
        'Validators that send blocks to this full node, and full nodes that it sends blocks to. A full node with fewer than two validators for half an hour is likely to stop in a deadlock of timeouts.',
      alerts: ['ChainPeersFew.upstream'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      limits: limitsBy('ChainPeersFew.upstream', 'chain_native_upstream_validators'),
      lines: [
        { expr: 'chain_native_upstream_validators', legend: 'send blocks here' },
        { expr: 'chain_native_downstream_nodes', legend: 'get blocks from here' },
      ],
    }),
    graph({
      title: 'Errors of the network layer, in five minutes',
      about:
        'By kind, and the number of peers that cause them. One peer: the cause is there. Several at once: see the clock and the version of this node.',
      alerts: ['ChainPeersFew.noise'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      names: ['decrypt', 'session_timeout', 'timestamp'],
      limits: limitsBy('ChainPeersFew.noise', 'chain_consensus_network_errors_total'),
      lines: [
        { expr: 'sum by (job, instance) (increase(chain_consensus_network_errors_total[5m]))', legend: 'all kinds' },
        { expr: 'increase(chain_consensus_network_errors_total[5m])', legend: '{{kind}}' },
        { expr: 'chain_consensus_network_error_peers', legend: 'peers' },
      ],
    }),
    graph({
      title: 'Warnings and errors in the log of consensus',
      about:
        'Lines a second. The dashboard of the node shows the known messages. Many lines without a known message: read the journal.',
      alerts: ['ChainLogTrouble'],
      unit: 'suffix:lines/s',
      decimals: 2,
      width: 8,
      min: 0,
      names: ['warning', 'error'],
      lines: [
        { expr: 'rate(chain_consensus_messages_total{kind=~"warning|error"}[$__rate_interval])', legend: '{{kind}}' },
      ],
    }),
    graph({
      title: 'Rounds by source, relative to the ledger stream',
      about:
        'Difference between the round of each source and the newest round in the ledger stream. A source that falls back has stopped.',
      alerts: ['ChainLogsIncomplete', 'ChainBlind.old-consensus-metrics'],
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
          legend: 'finalized in the ledger stream',
        },
      ],
    }),
    timeline({
      title: 'Sync requests, and sources that have stopped',
      about:
        'A start that is not live yet, statesync and blocksync as the node requests them; endpoints without metrics; metrics that do not change, also while the node progresses (zombie). Statesync is no fault; the others are.',
      alerts: ['ChainStartStalled', 'ChainStatesync', 'ChainBlind.old-consensus-metrics', 'ChainBlind'],
      width: 8,
      height: 8,
      legend: false,
      words: alarm('YES', 'warning'),
      lines: [
        { expr: 'chain_native_start_active', legend: 'start, metrics' },
        { expr: 'chain_consensus_start_active', legend: 'start, log' },
        { expr: 'chain_native_statesync_active', legend: 'statesync, metrics' },
        { expr: 'chain_consensus_statesync_active', legend: 'statesync, log' },
        { expr: 'chain_consensus_blocksync_active', legend: 'blocksync, log' },
        { expr: '1 - chain_consensus_committing', legend: 'no commits, log' },
        { expr: '1 - chain_native_up', legend: 'no metrics, {{source}}' },
        { expr: 'chain_native_frozen', legend: 'metrics frozen' },
        { expr: 'chain_native_zombie', legend: 'metrics zombie' },
      ],
    }),
    figures({
      title: 'Epoch and round',
      about:
        'By the ledger stream, the log and the status report. The status report is up to five minutes old. See the source that stays while the others grow.',
      alerts: ['ChainBlockStalled'],
      unit: 'locale',
      width: 24,
      lines: [
        { expr: 'chain_ledger_epoch{event="proposed"}', legend: 'epoch, ledger' },
        { expr: 'chain_consensus_epoch', legend: 'epoch, log' },
        { expr: 'chain_status_epoch', legend: 'epoch, report' },
        { expr: 'chain_ledger_round{event="proposed"}', legend: 'round, ledger' },
        { expr: 'chain_consensus_round', legend: 'round, log' },
        { expr: 'chain_status_round', legend: 'round, report' },
      ],
    }),
  ],
}
