import { z } from 'zod'
import { POLL, timing } from '../../config/values.ts'
import { gauge, open } from '../../core/metric.ts'

/** The database's timelines; labels of the slots, not of what is in them. */
export const TIMELINES = ['primary', 'secondary'] as const
export const CHUNK_LISTS = ['fast', 'slow', 'free'] as const
export const BLOCK_STATES = ['proposed', 'voted', 'finalized', 'verified'] as const

export const definition = {
  name: 'storage',
  help: "the node's database: capacity, use, history, blocks by state",
  introduction:
    "The node's database by the report of its tool, every `storage.interval`. A series is absent where the version of the report does not tell it; the sentinel 2^64 − 1 is unknown. The tool needs more rights than the agent has: let `deploy/chain-agent-storage.timer` run it, and read its file with `storage.reportFile`.",
  settings: z
    .strictObject({
      ...timing('60s', '20s', POLL),
      devices: z
        .array(z.string().min(1))
        .min(1, 'expected at least one device')
        .default(['/dev/triedb'])
        .describe('the devices of the database, as the node is given them'),
      reportFile: z
        .string()
        .min(1)
        .nullable()
        .default(null)
        .describe(
          'read the report from this file, which a privileged unit writes (deploy/), instead',
        ),
    })
    .prefault({}),
  metrics: {
    chain_storage_capacity_bytes: gauge('Capacity of the database on the device.', {
      device: open,
    }),
    chain_storage_used_bytes: gauge('Used space of the database on the device.', { device: open }),
    chain_storage_used_ratio: gauge('Used share of the device, from the printed percent.', {
      device: open,
    }),
    chain_storage_chunks: gauge('Chunks of 256 MiB in the list.', { list: CHUNK_LISTS }),
    chain_storage_chunks_capacity_bytes: gauge('Capacity of the chunks in the list.', {
      list: CHUNK_LISTS,
    }),
    chain_storage_chunks_used_bytes: gauge('Used space of the chunks in the list.', {
      list: CHUNK_LISTS,
    }),
    chain_storage_history_blocks: gauge('Blocks whose state is retained.', { timeline: TIMELINES }),
    chain_storage_history_earliest_block: gauge('Earliest block whose state is retained.', {
      timeline: TIMELINES,
    }),
    chain_storage_history_latest_block: gauge('Latest block whose state is retained.', {
      timeline: TIMELINES,
    }),
    chain_storage_history_max_blocks: gauge(
      'Bound on retained blocks; above 80 % of use the node shrinks it by itself.',
    ),
    chain_storage_latest_block: gauge('Latest block in the database, by state.', {
      state: BLOCK_STATES,
    }),
    chain_storage_auto_expire_block: gauge('Version below which state is expired by itself.', {
      timeline: TIMELINES,
    }),
    chain_storage_timeline_info: gauge('Constant 1; the kind of state machine in the timeline.', {
      timeline: TIMELINES,
      kind: open,
    }),
    chain_storage_compaction_threshold_ratio: gauge(
      'Share of use from which the node compacts by itself.',
    ),
  },
} as const
