import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { table } from '../panels/table.ts'
import { figures } from '../panels/tile.ts'

const USE = limitsBy('ChainStorageFull', 'instance:chain_storage_used_ratio:max')

export const database: Row = {
  title: 'Database of the node',
  panels: [
    graph({
      title: 'Free share of the chunks',
      about:
        'The database is written in chunks. Without a free one execution cannot write a block: free space while some are left. The used share is on the dashboard of the node.',
      alerts: ['ChainStorageFull.free-chunks', 'ChainStorageFull'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      max: 1,
      limits: limitsBy('ChainStorageFull.free-chunks', 'instance:chain_storage_free_chunks:ratio'),
      lines: [{ expr: 'instance:chain_storage_free_chunks:ratio', legend: 'free' }],
    }),
    graph({
      title: 'Chunks by list',
      about:
        'Chunks of 256 MiB in each list, as execution logs them and as the report of the tool has them. See the free ones.',
      alerts: ['ChainStorageFull.free-chunks'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      names: ['fast', 'slow', 'free', 'fast, report', 'slow, report', 'free, report'],
      lines: [
        { expr: 'chain_execution_storage_chunks', legend: '{{list}}' },
        { expr: 'chain_storage_chunks', legend: '{{list}}, report' },
      ],
    }),
    table({
      title: 'Devices',
      about: 'Each device of the database, as the report of the tool has it. Execution stops when the fullest is full.',
      alerts: ['ChainStorageFull', 'ChainBlind'],
      width: 8,
      height: 8,
      keys: { device: 'Device' },
      columns: [
        { title: 'Used', expr: 'max by (device) (chain_storage_used_bytes)', unit: 'bytes' },
        { title: 'Capacity', expr: 'max by (device) (chain_storage_capacity_bytes)', unit: 'bytes' },
        {
          title: 'Share',
          expr: 'max by (device) (chain_storage_used_ratio)',
          unit: 'percentunit',
          decimals: 1,
          limits: USE,
        },
      ],
    }),
    figures({
      title: 'Until compaction',
      about:
        'Time until the database reaches the compaction threshold, by its growth; 0: it has. A database that does not grow has none.',
      alerts: ['ChainStorageFull'],
      empty: 'not growing',
      unit: 's',
      decimals: 1,
      width: 6,
      lines: [{ expr: 'chain_storage_compaction_eta_seconds', legend: 'by its growth' }],
    }),
    figures({
      title: 'Blocks whose state is retained',
      about:
        'The number of blocks for each timeline, and the limit, which the node lowers by itself when space runs out. Older state cannot be queried.',
      alerts: ['ChainStorageFull'],
      unit: 'locale',
      width: 18,
      lines: [
        { expr: 'chain_storage_history_blocks{timeline="primary"}', legend: 'primary' },
        { expr: 'chain_storage_history_blocks{timeline="secondary"}', legend: 'secondary' },
        { expr: 'chain_storage_history_max_blocks', legend: 'limit' },
        { expr: 'chain_storage_history_earliest_block{timeline="primary"}', legend: 'earliest' },
        { expr: 'chain_execution_history_earliest_block{timeline="primary"}', legend: 'earliest, by execution' },
        { expr: 'chain_storage_auto_expire_block{timeline="primary"}', legend: 'expires below' },
      ],
    }),
    table({
      title: 'Lists of chunks',
      about: 'Capacity and use of the chunks in each list, as the report of the tool has them.',
      alerts: ['ChainStorageFull.free-chunks'],
      width: 8,
      height: 7,
      keys: { list: 'List' },
      columns: [
        { title: 'Used', expr: 'max by (list) (chain_storage_chunks_used_bytes)', unit: 'bytes' },
        { title: 'Capacity', expr: 'max by (list) (chain_storage_chunks_capacity_bytes)', unit: 'bytes' },
        { title: 'Chunks', expr: 'max by (list) (chain_storage_chunks)', unit: 'locale' },
      ],
    }),
    table({
      title: 'Timelines',
      about:
        'The kind of state machine in each timeline, and the range of blocks that it retains. A fork may require a kind: see the forks on the dashboard of the node.',
      alerts: ['ChainLogTrouble.timeline-missing', 'ChainStorageFull.migration'],
      width: 8,
      height: 7,
      keys: { timeline: 'Timeline', kind: 'Kind' },
      columns: [
        {
          title: 'Earliest',
          expr: 'max by (timeline, kind) (chain_storage_timeline_info * on (job, instance, timeline) group_left () chain_storage_history_earliest_block)',
          unit: 'locale',
        },
        {
          title: 'Latest',
          expr: 'max by (timeline, kind) (chain_storage_timeline_info * on (job, instance, timeline) group_left () chain_storage_history_latest_block)',
          unit: 'locale',
        },
      ],
    }),
    table({
      title: 'Newest block in the database',
      about: 'By state. What is voted or finalized must not fall behind what is proposed by more than a few blocks.',
      alerts: ['ChainExecutionSlow.lagging'],
      width: 8,
      height: 7,
      keys: { state: 'State' },
      columns: [{ title: 'Block', expr: 'max by (state) (chain_storage_latest_block)', unit: 'locale' }],
    }),
    graph({
      title: 'Nodes of the trie, read and written',
      about:
        'Per second, by execution. Compaction and the expiry of history compete with the execution of blocks for the drives. These statistics need two options of the node: see the reference of the metrics.',
      alerts: ['ChainExecutionSlow'],
      empty: 'not reported',
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      names: ['upsert, written', 'expiry, written', 'compaction, read', 'expiry, read'],
      lines: [
        { expr: 'rate(chain_native_database_writes_total[$__rate_interval])', legend: '{{task}}, written' },
        { expr: 'rate(chain_native_database_reads_total[$__rate_interval])', legend: '{{task}}, read' },
      ],
    }),
    graph({
      title: 'Bytes copied by compaction',
      about:
        'Per second, by lists of chunks. Copying within the slow list frees chunks. If it rises with the time of a block, compaction slows execution down.',
      alerts: ['ChainExecutionSlow'],
      empty: 'not reported',
      unit: 'Bps',
      decimals: 1,
      width: 8,
      min: 0,
      names: ['fast_to_slow', 'slow_to_slow', 'slow_to_fast'],
      lines: [{ expr: 'rate(chain_native_database_copied_bytes_total[$__rate_interval])', legend: '{{direction}}' }],
    }),
    graph({
      title: 'Cache of consensus for the trie',
      about:
        'Share of requests that the cache answers and of those that remove an entry, and how full it is. A low share of hits while it is full means more reads from the drives.',
      alerts: ['ChainNotVoting.late'],
      empty: 'no cache',
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      max: 1,
      names: ['hits', 'removals', 'used bytes', 'entries'],
      lines: [
        {
          expr: `sum by (job, instance) (rate(chain_native_cache_requests_total{result="hit"}[$__rate_interval]))
            / sum by (job, instance) (rate(chain_native_cache_requests_total[$__rate_interval]))`,
          legend: 'hits',
        },
        {
          expr: `sum by (job, instance) (rate(chain_native_cache_evictions_total[$__rate_interval]))
            / sum by (job, instance) (rate(chain_native_cache_requests_total[$__rate_interval]))`,
          legend: 'removals',
        },
        { expr: 'chain_native_cache_used_bytes / chain_native_cache_capacity_bytes', legend: 'used bytes' },
        { expr: 'chain_native_cache_entries / chain_native_cache_max_entries', legend: 'entries' },
      ],
    }),
  ],
}
