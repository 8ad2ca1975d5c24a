import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { table } from '../panels/table.ts'
import { figures } from '../panels/tile.ts'
import { quantile } from '../promql.ts'

const USE = limitsBy(
  { alert: 'ChainStorageCompacting', metric: 'instance:chain_storage_used_ratio:max' },
  { alert: 'ChainStorageFull', metric: 'instance:chain_storage_used_ratio:max' },
)

export const storage: Row = {
  title: 'Storage: the database of the node',
  panels: [
    graph({
      title: 'Use of the database',
      about:
        'Used share as execution logs it and as the report tells it for each device. Above the first line the node drops old state by itself; when it still grows there, make room before execution ends.',
      alerts: ['ChainStorageCompacting', 'ChainStorageFull', 'ChainStorageLowForMigration'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      max: 1,
      limits: USE,
      lines: [
        { expr: 'chain_execution_storage_used_ratio', legend: 'by execution' },
        { expr: 'chain_storage_used_ratio', legend: 'report, {{device}}' },
        {
          expr: `chain_native_database_bytes{state="used"}
  / ignoring (state) chain_native_database_bytes{state="capacity"}`,
          legend: 'by consensus',
        },
        { expr: 'chain_storage_compaction_threshold_ratio', legend: 'compacts from' },
      ],
    }),
    graph({
      title: 'Free share of the chunks',
      about:
        'The database is written in chunks. Without a free one execution cannot write a block: make room while some are left.',
      alerts: ['ChainStorageFreeChunksLow'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      max: 1,
      limits: limitsBy({
        alert: 'ChainStorageFreeChunksLow',
        metric: 'instance:chain_storage_free_chunks:ratio',
      }),
      lines: [{ expr: 'instance:chain_storage_free_chunks:ratio', legend: 'free' }],
    }),
    graph({
      title: 'Chunks by list',
      about:
        'Chunks of 256 MiB in each list, as execution logs them and as the report tells them. The free ones are what is left.',
      alerts: ['ChainStorageFreeChunksLow'],
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
    figures({
      title: 'Until compaction',
      about:
        'Time until the database reaches the line of compaction, by its growth; 0 is there. No data where it does not grow.',
      alerts: ['ChainStorageCompactionSoon'],
      unit: 's',
      decimals: 1,
      width: 6,
      limits: limitsBy({
        alert: 'ChainStorageCompactionSoon',
        metric: 'chain_storage_seconds_until_compaction',
      }),
      lines: [{ expr: 'chain_storage_seconds_until_compaction', legend: 'by its growth' }],
    }),
    figures({
      title: 'Blocks whose state is kept',
      about:
        'How far back the node can answer, for each timeline, and the bound, which the node lowers by itself when space runs out.',
      alerts: ['ChainStorageCompacting'],
      unit: 'locale',
      width: 18,
      lines: [
        { expr: 'chain_storage_history_blocks{timeline="primary"}', legend: 'kept, primary' },
        { expr: 'chain_storage_history_blocks{timeline="secondary"}', legend: 'kept, secondary' },
        { expr: 'chain_storage_history_max_blocks', legend: 'kept at most' },
        { expr: 'chain_storage_history_earliest_block{timeline="primary"}', legend: 'earliest' },
        {
          expr: 'chain_execution_history_earliest_block{timeline="primary"}',
          legend: 'earliest, by execution',
        },
        { expr: 'chain_storage_auto_expire_block{timeline="primary"}', legend: 'expires below' },
      ],
    }),
    table({
      title: 'Devices',
      about: 'Each device of the database, by the report of its tool. The fullest decides.',
      alerts: ['ChainStorageFull', 'ChainBlind'],
      width: 8,
      height: 7,
      keys: { device: 'Device' },
      columns: [
        { title: 'Used', expr: 'max by (device) (chain_storage_used_bytes)', unit: 'bytes' },
        {
          title: 'Capacity',
          expr: 'max by (device) (chain_storage_capacity_bytes)',
          unit: 'bytes',
        },
        {
          title: 'Share',
          expr: 'max by (device) (chain_storage_used_ratio)',
          unit: 'percentunit',
          decimals: 1,
          limits: USE,
        },
      ],
    }),
    table({
      title: 'Lists of chunks',
      about: 'Capacity and use of the chunks in each list, by the report of the tool.',
      alerts: ['ChainStorageFreeChunksLow'],
      width: 8,
      height: 7,
      keys: { list: 'List' },
      columns: [
        { title: 'Used', expr: 'max by (list) (chain_storage_chunks_used_bytes)', unit: 'bytes' },
        {
          title: 'Capacity',
          expr: 'max by (list) (chain_storage_chunks_capacity_bytes)',
          unit: 'bytes',
        },
        { title: 'Chunks', expr: 'max by (list) (chain_storage_chunks)', unit: 'locale' },
      ],
    }),
    table({
      title: 'Timelines',
      about:
        'The kind of state machine in each timeline, and the range of blocks that it keeps. A fork may ask for a kind: see the row Services and versions.',
      alerts: ['ChainTimelineMissing', 'ChainStorageLowForMigration'],
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
    graph({
      title: 'Time to write the state of a block',
      about:
        'Into the database, for each timeline. When it rises execution slows down next: look at the drives in the row Host.',
      alerts: ['ChainExecutionSlow'],
      unit: 's',
      width: 12,
      min: 0,
      lines: [
        {
          expr: quantile(0.5, 'chain_execution_upsert_duration_seconds{timeline="primary"}'),
          legend: 'primary, median',
        },
        {
          expr: quantile(0.99, 'chain_execution_upsert_duration_seconds{timeline="primary"}'),
          legend: 'primary, 99th',
        },
        {
          expr: quantile(0.99, 'chain_execution_upsert_duration_seconds{timeline="secondary"}'),
          legend: 'secondary, 99th',
        },
      ],
    }),
    figures({
      title: 'Newest block in the database',
      about: 'By state. What is voted or final must not fall behind what is proposed by more than a few.',
      alerts: ['ChainExecutionLagging'],
      unit: 'locale',
      width: 12,
      height: 8,
      lines: [{ expr: 'chain_storage_latest_block', legend: '{{state}}' }],
    }),
  ],
}
