import { z } from 'zod'
import type { Recorder } from '../../core/recorder.ts'
import { EXECUTION_PHASES } from './definition.ts'
import { parseExecutionLine } from '../../parsers/execution-log.ts'
import type { ExecutedBlock } from '../../parsers/execution-log.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { createReader } from '../shared/reader.ts'
import { createExecutedBlocks, executedSchema } from './blocks.ts'
import { type ExecutionFigures, figuresSchema, noFigures, ofProcess, withEvent } from './figures.ts'

/** The reading and, where a line was not understood, such a line. */
export interface ExecutionFound extends ExecutionFigures {
  readonly unparsed: string | null
}

const memorySchema = z.object({ figures: figuresSchema, executed: executedSchema })

/** Folds the journal of the execution service into counters, histograms and the newest of each kind. */
export const createExecutionCount = (recorder: Recorder) => {
  const reader = createReader(recorder, 'execution-log', parseExecutionLine)
  const executed = createExecutedBlocks()
  let figures = noFigures

  /** Old blocks are remembered, and not counted. */
  const countBlock = (block: ExecutedBlock, by: 0 | 1): void => {
    const { number, id, transactions, retried, gas } = block
    recorder.count('chain_execution_blocks_total', by)
    recorder.count('chain_execution_transactions_total', by * Number(transactions))
    recorder.count('chain_execution_retried_transactions_total', by * Number(retried))
    recorder.count('chain_execution_gas_total', by * Number(gas))
    // A version that does not tell which block it was cannot tell that it was another.
    if (id === null) return
    const again = executed.add(number, id) ? by : 0
    recorder.count('chain_execution_reexecutions_total', again)
  }

  const observeBlock = ({ microseconds }: ExecutedBlock): void => {
    const { senderRecovery, execution, commit, total } = microseconds
    const phases = { sender_recovery: senderRecovery, execution, commit, total } as const
    for (const phase of EXECUTION_PHASES) {
      recorder.observe('chain_execution_block_duration_seconds', phases[phase] / MICRO, { phase })
    }
  }

  return {
    /** Brings the counters into being, once the log is at hand. */
    begin: (): void => {
      recorder.count('chain_execution_blocks_total', 0)
      recorder.count('chain_execution_transactions_total', 0)
      recorder.count('chain_execution_retried_transactions_total', 0)
      recorder.count('chain_execution_gas_total', 0)
      reader.begin()
    },
    on: ({ message, fields, at }: JournalEntry, isOld: boolean): void => {
      // What journald and systemd say of the unit comes along with what the unit says.
      if (message === null || fields['_PID'] === '1' || 'OBJECT_SYSTEMD_UNIT' in fields) return
      const by = isOld ? 0 : 1
      const event = reader.read(message, { by, at })
      if (!event) return
      const process = fields['_SYSTEMD_INVOCATION_ID'] ?? fields['_PID'] ?? ''
      figures = withEvent(ofProcess(figures, process), event)
      if (event.event === 'executed') {
        countBlock(event, by)
        if (!isOld) observeBlock(event)
      } else if (event.event === 'upserted' && !isOld) {
        const { timeline, microseconds } = event
        const seconds = microseconds / MICRO
        recorder.observe('chain_execution_upsert_duration_seconds', seconds, { timeline })
      }
    },
    read: (): ExecutionFound => ({ ...figures, unparsed: reader.unparsed() }),
    memory: () => ({ figures, executed: executed.memory() }),
    restore: (memory: unknown): void => {
      const { data } = memorySchema.safeParse(memory)
      if (!data) return
      figures = data.figures
      executed.restore(data.executed)
    },
  }
}

const MICRO = 1_000_000
