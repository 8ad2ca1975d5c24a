import { z } from 'zod'
import { polling, timed } from '../../core/settings.ts'
import { gauge, open } from '../../core/metric.ts'
import { each, listOf, objectOf, objectOrNull, orNull } from '../shared/reading-schema.ts'

/** The database's timelines; names of the slots, not of their content. */
export const TIMELINES = ['primary', 'secondary'] as const
export const CHUNK_LISTS = ['fast', 'slow', 'free'] as const
export const BLOCK_STATES = ['proposed', 'voted', 'finalized', 'verified'] as const

const list = objectOrNull({ chunks: orNull.number, capacityBytes: orNull.number, usedBytes: orNull.number })
const timeline = objectOrNull({
  kind: orNull.text,
  ...each(orNull.integer, 'historyBlocks', 'earliestBlock', 'latestBlock', 'autoExpireBlock'),
})
const identifiedBlock = objectOrNull({ number: orNull.integer, id: orNull.text, round: orNull.integer })

export const definition = {
  name: 'storage',
  help: "the node's database: capacity, usage, history, blocks by state",
  introduction:
    "The node's database, from the report of its tool every `storage.interval`. Series that the version of the report does not contain are absent; the sentinel 2^64 − 1 means unknown. The tool needs more permissions than the agent has: run it by `deploy/chain-agent-storage.timer` and set `storage.reportFile` to its output.",
  settings: timed('60s', '20s', {
    ...polling('60s'),
    devices: z
      .array(z.string().min(1))
      .min(1, 'expected at least one device')
      .default(['/dev/triedb'])
      .describe('the devices of the database, as in the configuration of the node'),
    reportFile: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe('read the report from this file, written by chain-agent-storage.timer'),
  }),
  reading: objectOf({
    devices: listOf(
      objectOf({
        path: orNull.text,
        ...each(orNull.number, 'capacityBytes', 'usedBytes', 'usedRatio'),
      }),
    ),
    lists: objectOf({ fast: list, slow: list, free: list }),
    timelines: objectOf({ primary: timeline, secondary: timeline }),
    historyMaxBlocks: orNull.integer,
    latestBlock: objectOf({
      proposed: identifiedBlock,
      voted: identifiedBlock,
      ...each(orNull.integer, 'finalized', 'verified'),
    }),
    complete: orNull.flag,
    unknownLines: orNull.number,
  }),
  metrics: {
    chain_storage_capacity_bytes: gauge('Capacity of the database on the device, from the report of its tool.', {
      device: open,
    }),
    chain_storage_used_bytes: gauge('Used space of the database on the device, from the report of its tool.', {
      device: open,
    }),
    chain_storage_used_ratio: gauge(
      'Used ratio of the database on the device, by bytes, from the percentage in the report of its tool; lower than the ratio of used chunks, which the node compares with its limits.',
      {
        device: open,
      },
    ),
    chain_storage_chunks: gauge('Chunks of the database, of 256 MiB each, by list.', { list: CHUNK_LISTS }),
    chain_storage_chunks_capacity_bytes: gauge('Capacity of the chunks of the database, by list.', {
      list: CHUNK_LISTS,
    }),
    chain_storage_chunks_used_bytes: gauge('Used space of the chunks of the database, by list.', { list: CHUNK_LISTS }),
    chain_storage_history_blocks: gauge('Number of blocks whose state is retained in the database, by timeline.', {
      timeline: TIMELINES,
    }),
    chain_storage_history_earliest_block: gauge(
      'Earliest block whose state is retained in the database, by timeline.',
      {
        timeline: TIMELINES,
      },
    ),
    chain_storage_history_latest_block: gauge('Latest block whose state is retained in the database, by timeline.', {
      timeline: TIMELINES,
    }),
    chain_storage_history_max_blocks: gauge(
      'Limit of blocks whose state is retained in the database; above 80 % usage the node reduces it by itself.',
    ),
    chain_storage_latest_block: gauge('Latest block in the database, by state.', { state: BLOCK_STATES }),
    chain_storage_auto_expire_block: gauge('Block below which the node expires state by itself, by timeline.', {
      timeline: TIMELINES,
    }),
    chain_storage_timeline_info: gauge('Constant 1; the kind of state machine in the timeline of the database.', {
      timeline: TIMELINES,
      kind: open,
    }),
  },
} as const
