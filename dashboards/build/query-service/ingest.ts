import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { figures, labels } from '../panels/tile.ts'

const KINDS = ['unreachable', 'overload', 'refused', 'incomplete', 'unlinked', 'invalid', 'store']
const NO_SERVICE = 'no query service'

export const ingest: Row = {
  title: 'Ingest and store',
  panels: [
    labels({
      title: 'Phase of the ingest',
      about:
        '`backfill` catches up with the node, `tail` follows it, `waiting` leaves it alone while it is behind or does not respond. `incomplete`: the node returns the next block without its logs. `stopped` needs an operator: see the log.',
      alerts: ['ChainQueryServiceDown.stopped', 'ChainQueryServiceDown.incomplete', 'ChainQueryServiceDown'],
      empty: NO_SERVICE,
      unit: 'none',
      width: 4,
      lines: [{ expr: 'chain_query_service_phase == 1', legend: '{{phase}}' }],
    }),
    figures({
      title: 'Indexed blocks',
      about:
        'The last finalized block of the node, the last indexed block and the first one. All blocks between the last two are indexed.',
      alerts: ['ChainQueryServiceBehind.stalled'],
      empty: NO_SERVICE,
      unit: 'locale',
      decimals: 0,
      width: 12,
      lines: [
        { expr: 'chain_query_service_node_height', legend: 'finalized on the node' },
        { expr: 'chain_query_service_height', legend: 'indexed' },
        { expr: 'chain_query_service_first_block', legend: 'first' },
      ],
    }),
    figures({
      title: 'Blocks and logs in the store',
      about: 'A store with a limit deletes the oldest blocks, and keeps about as many.',
      alerts: ['ChainQueryServiceBehind'],
      empty: NO_SERVICE,
      unit: 'locale',
      decimals: 0,
      width: 8,
      lines: [
        { expr: 'chain_query_service_store_blocks', legend: 'blocks' },
        { expr: 'chain_query_service_store_logs', legend: 'logs' },
      ],
    }),
    graph({
      title: 'Behind the node',
      about:
        'Finalized blocks of the node that are not indexed. A backfill comes down from far above the line, which is no fault; a line that stays above it is.',
      alerts: ['ChainQueryServiceBehind'],
      empty: NO_SERVICE,
      unit: 'suffix:blocks',
      decimals: 0,
      width: 8,
      min: 0,
      limits: limitsBy('ChainQueryServiceBehind', 'instance:chain_query_service_behind:blocks'),
      lines: [{ expr: 'instance:chain_query_service_behind:blocks', legend: 'behind' }],
    }),
    graph({
      title: 'Age of the last indexed block',
      about:
        'By its timestamp: how old the newest answer is. If the node is stalled it rises, too, and the number of blocks behind stays. The scale is logarithmic.',
      alerts: ['ChainQueryServiceBehind.stalled', 'ChainQueryServiceBehind'],
      empty: NO_SERVICE,
      unit: 's',
      width: 8,
      logarithmic: true,
      lines: [
        { expr: 'time() - chain_query_service_indexed_block_timestamp_seconds', legend: 'last indexed block' },
      ],
    }),
    graph({
      title: 'Failed steps of the ingest',
      about:
        'In a quarter of an hour, by kind. unreachable and overload: the node is away or busy. Of the other kinds, more than the line needs an operator.',
      alerts: ['ChainQueryServiceBehind.ingest-failing'],
      empty: NO_SERVICE,
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      softMax: 10,
      names: [...KINDS, 'blocks corrected', 'filters ignored'],
      limits: limitsBy('ChainQueryServiceBehind.ingest-failing', 'chain_query_service_ingest_errors_total'),
      lines: [
        { expr: 'round(increase(chain_query_service_ingest_errors_total[15m]))', legend: '{{kind}}' },
        { expr: 'round(increase(chain_query_service_blocks_corrected_total[15m]))', legend: 'blocks corrected' },
        { expr: 'chain_query_service_header_filters_ignored', legend: 'filters ignored' },
      ],
    }),
    graph({
      title: 'Blocks indexed',
      about:
        'Blocks a second. A backfill is as fast as the node and the store allow; after it, the rate is that of the chain.',
      alerts: ['ChainQueryServiceBehind', 'ChainQueryServiceBehind.stalled'],
      empty: NO_SERVICE,
      unit: 'suffix:blocks/s',
      decimals: 2,
      width: 8,
      min: 0,
      lines: [
        { expr: 'rate(chain_query_service_blocks_indexed_total[$__rate_interval])', legend: 'indexed' },
      ],
    }),
    graph({
      title: 'Logs indexed and returned',
      about: 'Logs a second of the indexed blocks, and in the responses.',
      alerts: ['ChainQueryServiceBehind', 'ChainQueryServiceSlow'],
      empty: NO_SERVICE,
      unit: 'si:logs/s',
      decimals: 1,
      width: 8,
      min: 0,
      lines: [
        { expr: 'rate(chain_query_service_logs_indexed_total[$__rate_interval])', legend: 'indexed' },
        { expr: 'rate(chain_query_service_logs_returned_total[$__rate_interval])', legend: 'returned' },
      ],
    }),
    graph({
      title: 'Space of the store',
      about:
        'Disk usage of the store, and its limit. A full store stays at the limit. A tenth above it, old blocks are not deleted: see the log.',
      alerts: ['ChainQueryServiceBehind'],
      empty: NO_SERVICE,
      unit: 'bytes',
      width: 8,
      min: 0,
      lines: [
        { expr: 'chain_query_service_store_bytes', legend: 'used' },
        { expr: 'chain_query_service_store_limit_bytes', legend: 'limit' },
      ],
    }),
  ],
}
