import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from './eventually.ts'
import type { Exposition } from './scrape.ts'

/** What the agent should have counted of the log that `fixtures/bin/execution.mjs` prints. */
export interface ExecutionTotals {
  readonly blocks: number
  readonly reexecutions: number
  readonly transactions: number
  readonly retried: number
  readonly gas: number
  readonly durations: number
  readonly upserts: number
  readonly lines: number
}

/** The truth about blocks 1 to `last`, and those that were executed again; known from how the log is made. */
export const executionTruth = (last: number, again: readonly number[] = []): ExecutionTotals => {
  const heights = Array.from({ length: last }, (_, at) => at + 1)
  const executed = [...heights, ...heights.filter((height) => height % 10 === 0), ...again]
  const sum = (of: (height: number) => number): number => executed.reduce((total, height) => total + of(height), 0)
  const blocks = executed.length
  return {
    blocks,
    reexecutions: Math.floor(last / 10),
    transactions: sum((height) => height % 7),
    retried: blocks,
    gas: sum((height) => height * 1000),
    durations: blocks,
    upserts: blocks,
    lines: 3 * blocks + Math.max(0, last - 2),
  }
}

export const executionTotals = ({ value }: Exposition): ExecutionTotals => {
  const execution = (name: string, labels?: Readonly<Record<string, string>>): number =>
    value(`chain_execution_${name}`, labels) ?? 0
  return {
    blocks: execution('blocks_total'),
    reexecutions: execution('reexecutions_total'),
    transactions: execution('transactions_total'),
    retried: execution('retried_transactions_total'),
    gas: execution('gas_total'),
    durations: execution('block_duration_seconds_count'),
    upserts: execution('upsert_duration_seconds_count', { timeline: 'primary' }),
    lines: value('chain_agent_lines_total', { format: 'execution-log', result: 'parsed' }) ?? 0,
  }
}

/** The files that control how far the program goes. */
export const createExecutionControl = (directory: string) => {
  const write = async (name: string, value: number): Promise<void> => {
    await writeFile(join(directory, `${name}.new`), `${value}`)
    await rename(join(directory, `${name}.new`), join(directory, name))
  }
  const last = async (): Promise<number> =>
    Number(await readFile(join(directory, 'execution-last'), 'utf8').catch(() => '0'))
  return {
    goTo: async (block: number): Promise<void> => write('execution-target', block),
    /** Makes the program print that number of truncated lines between two blocks. */
    printGarbage: async (lines: number): Promise<void> => write('execution-garbage', lines),
    /** Waits until a block is executed. */
    reached: async (block: number): Promise<void> => {
      await eventually(last, (seen) => seen >= block)
    },
  }
}
