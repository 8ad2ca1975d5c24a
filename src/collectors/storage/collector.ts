import type { Context } from '../../core/clock.ts'
import { type Collector, metadataOf, poll, type Timing } from '../../core/collector.ts'
import { SourceError } from '../../core/errors.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { redact } from '../../core/redaction/redact.ts'
import { second } from '../../core/units.ts'
import { BLOCK_STATES, CHUNK_LISTS, definition, TIMELINES } from './definition.ts'
import { parseStorageReport, readStorageFailure, type StorageReport } from '../../parsers/mpt.ts'
import type { Uses } from '../dependencies.ts'

/** Delay before the second read, in milliseconds: the node has then finished writing one copy of its metadata. */
const retryDelay = ({ timeout }: Timing): number => Math.min(2 * second, timeout / 4)

/** The node's database: capacity, usage, history and blocks by state. */
export const storage = ({
  readStorage,
  recorder,
  clock,
  timing,
}: Uses<'readStorage' | 'recorder' | 'clock'>): Collector<StorageReport> => {
  let before: StorageReport | undefined

  const report = async (signal: AbortSignal): Promise<StorageReport> => {
    try {
      return parseStorageReport(await readStorage(signal))
    } catch (error) {
      throw withToolMessage(error)
    }
  }

  return {
    ...metadataOf(definition, timing),
    run: poll(timing, async ({ signal }: Context) => {
      let now = await report(signal)
      // "Never set" after a report with values means that the metadata is being written: read it again.
      if (before !== undefined && !isUnset(before) && isUnset(now)) {
        await clock.sleep(retryDelay(timing), signal)
        now = await report(signal)
      }
      before = now
      recorder.count('chain_agent_lines_total', now.unknownLines, { format: 'chain-mpt', result: 'unparsed' })
      return now
    }),
    samples,
    states: ({ layout, complete, unknownLines }) => ({
      'storage report': `layout ${layout}${complete ? '' : ', incomplete'}${
        unknownLines === 0 ? '' : `, ${unknownLines} unparsed lines`
      }`,
    }),
  }
}

/** The tool is killed by a signal and prints a stack trace: use the line that contains the reason. */
const withToolMessage = (error: unknown): unknown => {
  const failure = error instanceof SourceError ? readStorageFailure(error.output) : null
  if (failure === null) return error
  return new SourceError(
    { doing: 'read the storage report', happened: failure.message, advice: failure.advice },
    { cause: error },
  )
}

const isUnset = ({ latestBlock: { finalized, verified } }: StorageReport): boolean =>
  finalized === null && verified === null

/** Shares of the chunks need all lists: with one that could not be read, an almost full database would look empty. */
const hasAllLists = ({ lists }: StorageReport): boolean => CHUNK_LISTS.every((list) => lists[list] !== null)

const samples = (report: StorageReport): readonly Sample[] => [
  ...report.devices.flatMap(({ path, capacityBytes, usedBytes, usedRatio }) => {
    const device = redact(path) // the path of a database in a file may contain a home directory
    return [
      ...sampleIfKnown('chain_storage_capacity_bytes', capacityBytes, { device }),
      ...sampleIfKnown('chain_storage_used_bytes', usedBytes, { device }),
      ...sampleIfKnown('chain_storage_used_ratio', usedRatio, { device }),
    ]
  }),
  ...CHUNK_LISTS.flatMap((list) => [
    ...sampleIfKnown('chain_storage_chunks', hasAllLists(report) ? report.lists[list]?.chunks : null, { list }),
    ...sampleIfKnown('chain_storage_chunks_capacity_bytes', report.lists[list]?.capacityBytes, { list }),
    ...sampleIfKnown('chain_storage_chunks_used_bytes', report.lists[list]?.usedBytes, { list }),
  ]),
  ...TIMELINES.flatMap((timeline) => timelineSamples(report, timeline)),
  ...sampleIfKnown('chain_storage_history_max_blocks', report.historyMaxBlocks),
  ...BLOCK_STATES.flatMap((state) => {
    const block = report.latestBlock[state]
    const number = typeof block === 'object' && block !== null ? block.number : block
    return sampleIfKnown('chain_storage_latest_block', number, { state })
  }),
]

const timelineSamples = (report: StorageReport, timeline: (typeof TIMELINES)[number]): readonly Sample[] => {
  const of = report.timelines[timeline]
  if (of === null) return []
  const { historyBlocks, earliestBlock, latestBlock, autoExpireBlock, kind } = of
  return [
    ...sampleIfKnown('chain_storage_history_blocks', historyBlocks, { timeline }),
    ...sampleIfKnown('chain_storage_history_earliest_block', earliestBlock, { timeline }),
    ...sampleIfKnown('chain_storage_history_latest_block', latestBlock, { timeline }),
    ...sampleIfKnown('chain_storage_auto_expire_block', autoExpireBlock, { timeline }),
    ...(kind === null ? [] : [sample('chain_storage_timeline_info', 1, { timeline, kind })]),
  ]
}
