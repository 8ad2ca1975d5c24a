import { z } from 'zod'
import { type ExecutedBlock, type ExecutionEvent, parseExecutionLine } from '../../parsers/execution-log.ts'
import type { Recorder } from '../../core/metric.ts'
import { EXECUTION_PHASES } from './definition.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { createLineReader, isAboutUnit } from '../shared/log-lines.ts'
import { savedInteger } from '../shared/saved-counts.ts'

/** The latest values in the log; null until the log contains them. */
const latestValuesSchema = z.object({
  /** The process that logged them: another one may start at a lower block. */
  process: z.string(),
  block: z.object({ number: savedInteger, at: z.number() }).nullable(),
  finalized: savedInteger.nullable(),
  usedRatio: z.number().nullable(),
  chunks: z.object({ fast: savedInteger, slow: savedInteger, free: savedInteger }).nullable(),
  residentBytes: z.number().nullable(),
})
type LatestValues = Readonly<z.output<typeof latestValuesSchema>>

const NO_VALUES: LatestValues = {
  process: '',
  block: null,
  finalized: null,
  usedRatio: null,
  chunks: null,
  residentBytes: null,
}

/** The values after one more line. */
const withEvent = (before: LatestValues, event: ExecutionEvent): LatestValues => {
  if (event.event === 'executed') return { ...before, block: higher(before.block, event) }
  if (event.event === 'upserted') return { ...before, usedRatio: event.usedRatio, chunks: event.chunks }
  if (event.event === 'run') return { ...before, residentBytes: event.residentBytes }
  if (event.event !== 'finalized') return before
  const { finalized } = before
  const isHigher = finalized === null || event.number > finalized
  return isHigher ? { ...before, finalized: event.number } : before
}

/** Clears the values of another process: a node that was reset, or restored from a snapshot, starts at a lower block. */
const forProcess = (before: LatestValues, process: string): LatestValues =>
  before.process === process ? before : { ...NO_VALUES, process }

const higher = (before: LatestValues['block'], { number, startedAt }: ExecutedBlock): LatestValues['block'] =>
  before !== null && before.number > number ? before : { number, at: startedAt }

/** The latest values, and an unparsed line if there is one. */
export type ExecutionLogReading = ReturnType<ReturnType<typeof createExecutionCounters>['read']>

/** A block is final two blocks later: another block at an older height is not expected. */
const HEIGHTS = 128
/** Blocks per height. */
const BLOCKS = 8

const executedSchema = z.array(z.tuple([z.string(), z.array(z.string())]))
type Executed = z.output<typeof executedSchema>

/** The blocks that were executed at the last heights. */
const createExecutedBlocks = () => {
  const known = new Map<string, string[]>()
  const at = (height: string): string[] => {
    const blocks = known.get(height) ?? []
    known.set(height, blocks)
    const [oldest] = known.keys()
    if (known.size > HEIGHTS && oldest !== undefined) known.delete(oldest)
    return blocks
  }
  return {
    /** Returns whether a different block had been executed at that height, and this one had not. */
    add: (height: bigint, id: string): boolean => {
      const blocks = at(String(height))
      if (blocks.includes(id)) return false
      blocks.push(id)
      if (blocks.length > BLOCKS) blocks.shift()
      return blocks.length > 1
    },
    /** A copy: it is written later, together with the place in the journal that it belongs to. */
    snapshot: (): Executed => [...known].map(([height, blocks]) => [height, [...blocks]]),
    restore: (executed: Executed): void => {
      for (const [height, blocks] of executed.slice(-HEIGHTS)) known.set(height, [...blocks])
    },
  }
}

const snapshotSchema = z.object({ figures: latestValuesSchema, executed: executedSchema })

/** Counters, histograms and latest values of the execution log, from its journal entries. */
export const createExecutionCounters = (recorder: Recorder) => {
  const reader = createLineReader(recorder, 'execution-log', parseExecutionLine)
  const executed = createExecutedBlocks()
  let values = NO_VALUES

  /** `by` is 0 for old blocks: they are remembered and not counted. */
  const countBlock = (block: ExecutedBlock, by: 0 | 1): void => {
    const { number, id, transactions, retried, gas } = block
    recorder.count('chain_execution_blocks_total', by)
    recorder.count('chain_execution_transactions_total', by * Number(transactions))
    recorder.count('chain_execution_retried_transactions_total', by * Number(retried))
    recorder.count('chain_execution_gas_total', by * Number(gas))
    // Versions that do not log the block id cannot be checked for a different block.
    if (id === null) return
    const again = executed.add(number, id) ? by : 0
    recorder.count('chain_execution_reexecutions_total', again)
  }

  const observeBlock = ({ microseconds }: ExecutedBlock): void => {
    const { senderRecovery, execution, commit, total } = microseconds
    const phases = { sender_recovery: senderRecovery, execution, commit } as const
    recorder.observe('chain_execution_block_duration_seconds', total / MICRO)
    for (const phase of EXECUTION_PHASES) {
      recorder.observe('chain_execution_phase_duration_seconds', phases[phase] / MICRO, { phase })
    }
  }

  return {
    /** Creates the counters with 0, once the log is available. */
    initialize: (): void => {
      recorder.count('chain_execution_blocks_total', 0)
      recorder.count('chain_execution_transactions_total', 0)
      recorder.count('chain_execution_retried_transactions_total', 0)
      recorder.count('chain_execution_gas_total', 0)
      reader.initialize()
    },
    on: ({ message, fields, at }: JournalEntry, isOld: boolean): void => {
      if (message === null || isAboutUnit(fields)) return
      const by = isOld ? 0 : 1
      const event = reader.read(message, { by, at })
      if (!event) return
      const process = fields['_SYSTEMD_INVOCATION_ID'] ?? fields['_PID'] ?? ''
      values = withEvent(forProcess(values, process), event)
      if (event.event === 'executed') {
        countBlock(event, by)
        if (!isOld) observeBlock(event)
      } else if (event.event === 'upserted' && !isOld) {
        const { timeline, microseconds } = event
        const seconds = microseconds / MICRO
        recorder.observe('chain_execution_upsert_duration_seconds', seconds, { timeline })
      }
    },
    read: () => ({ ...values, unparsed: reader.unparsed() }),
    snapshot: () => ({ figures: values, executed: executed.snapshot() }),
    restore: (snapshot: unknown): void => {
      const { data } = snapshotSchema.safeParse(snapshot)
      if (!data) return
      values = data.figures
      executed.restore(data.executed)
    },
  }
}

const MICRO = 1_000_000
