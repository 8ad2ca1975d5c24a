import { queryAnswers } from './query-answers.ts'
import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { figures, labels } from '../panels/tile.ts'

const KINDS = ['unreachable', 'overload', 'refused', 'incomplete', 'unlinked', 'nonsense', 'store']

export const queryService: Row = {
  title: 'Query service',
  collapsed: true,
  panels: [
    labels({
      title: 'The ingest is at',
      about:
        'back-fill gains on the node, tail follows it, waiting leaves it alone while it is behind or silent. stopped needs somebody: the log says why. No data: this node has no query service, or it is down.',
      alerts: ['ChainQueryServiceStopped', 'ChainQueryServiceDown'],
      unit: 'none',
      width: 4,
      lines: [{ expr: 'chain_query_service_phase == 1', legend: '{{phase}}' }],
    }),
    figures({
      title: 'What it has',
      about:
        'The last final block of the node, the last that is indexed, and the first that is held. All between the last two are there: nothing is left out.',
      alerts: ['ChainQueryServiceStalled'],
      unit: 'locale',
      decimals: 0,
      width: 12,
      lines: [
        { expr: 'chain_query_service_node_height', legend: 'final on the node' },
        { expr: 'chain_query_service_height', legend: 'indexed' },
        { expr: 'chain_query_service_first_block', legend: 'first held' },
      ],
    }),
    figures({
      title: 'How much that is',
      about: 'Blocks and logs that are held. A store with a bound forgets the oldest blocks, and keeps about as many.',
      alerts: ['ChainQueryServiceStoreOverLimit'],
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
        'Final blocks of the node that are not indexed. A back-fill comes down from far above the line, which is no fault; what does not come down is.',
      alerts: ['ChainQueryServiceBehind'],
      unit: 'suffix:blocks',
      decimals: 0,
      width: 8,
      min: 0,
      limits: limitsBy({
        alert: 'ChainQueryServiceBehind',
        metric: 'instance:chain_query_service_behind:blocks',
      }),
      lines: [{ expr: 'instance:chain_query_service_behind:blocks', legend: 'behind' }],
    }),
    graph({
      title: 'Age of the last indexed block',
      about:
        'By its own time: how old the newest answer is. When the node is stalled it rises, too; the graph beside it stays.',
      alerts: ['ChainQueryServiceStalled', 'ChainQueryServiceBehind'],
      unit: 's',
      width: 8,
      min: 0,
      lines: [
        {
          expr: 'time() - chain_query_service_indexed_block_timestamp_seconds',
          legend: 'last indexed block',
        },
      ],
    }),
    graph({
      title: 'Steps of the ingest that failed',
      about:
        'In a quarter of an hour, by kind. unreachable and overload are a node that is away or busy; of the others, more than the line needs somebody.',
      alerts: ['ChainQueryServiceIngestFailing'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      softMax: 10,
      names: KINDS,
      limits: limitsBy({
        alert: 'ChainQueryServiceIngestFailing',
        metric: 'chain_query_service_ingest_errors_total',
      }),
      lines: [
        {
          expr: 'round(increase(chain_query_service_ingest_errors_total[15m]))',
          legend: '{{kind}}',
        },
      ],
    }),
    graph({
      title: 'Blocks indexed',
      about:
        'Blocks a second. In a back-fill it is as fast as node and store let it; after that it has the pace of the chain.',
      alerts: ['ChainQueryServiceBehind', 'ChainQueryServiceStalled'],
      unit: 'suffix:blocks/s',
      decimals: 2,
      width: 8,
      min: 0,
      lines: [
        {
          expr: 'rate(chain_query_service_blocks_indexed_total[$__rate_interval])',
          legend: 'indexed',
        },
      ],
    }),
    graph({
      title: 'Logs kept and given',
      about: 'Logs a second that were kept of new blocks, and that stood in answers.',
      alerts: ['ChainQueryServiceBehind', 'ChainQueryServiceSlow'],
      unit: 'suffix:logs/s',
      decimals: 1,
      width: 8,
      min: 0,
      lines: [
        {
          expr: 'rate(chain_query_service_logs_indexed_total[$__rate_interval])',
          legend: 'kept',
        },
        {
          expr: 'rate(chain_query_service_logs_returned_total[$__rate_interval])',
          legend: 'in answers',
        },
      ],
    }),
    graph({
      title: 'Space of the store',
      about:
        'What the store takes on disk, and the bound that it was given. At the bound it stands once it is full; above it by a tenth, old blocks do not go.',
      alerts: ['ChainQueryServiceStoreOverLimit'],
      unit: 'bytes',
      width: 8,
      min: 0,
      lines: [
        { expr: 'chain_query_service_store_bytes', legend: 'taken' },
        { expr: 'chain_query_service_store_limit_bytes', legend: 'at most' },
      ],
    }),
    ...queryAnswers,
  ],
}
