import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from './eventually.ts'
import type { Exposition } from './scrape.ts'

/** What the agent should have counted of the stream that `fixtures/bin/ledger-tail.mjs` prints. */
export interface LedgerTotals {
  readonly proposed: number
  readonly finalized: number
  readonly timeouts: number
  readonly skipped: number
  readonly transactions: number
  /** All that was printed and understood, old blocks that were printed again included. */
  readonly lines: number
}

/** The truth about blocks 1 to `last`; known from how the stream is made, not from what was read. */
export const ledgerTruth = (last: number, replayed = 0): LedgerTotals => {
  const [proposed, finalized, timeouts] = [last, Math.max(0, last - 2), Math.floor(last / 10)]
  return {
    proposed,
    finalized,
    timeouts,
    skipped: timeouts,
    transactions: Array.from({ length: last }, (_, at) => (at + 1) % 7).reduce((a, b) => a + b, 0),
    lines: proposed + finalized + timeouts + replayed,
  }
}

/** How many old blocks the stream prints again when it starts at a block. */
export const replayedAt = (block: number): number => Math.min(block, 101)

export const ledgerTotals = ({ value }: Exposition): LedgerTotals => {
  const total = (name: string, labels?: Readonly<Record<string, string>>): number =>
    value(`chain_${name}_total`, labels) ?? 0
  return {
    proposed: total('ledger_blocks', { event: 'proposed' }),
    finalized: total('ledger_blocks', { event: 'finalized' }),
    timeouts: total('ledger_timeouts'),
    skipped: total('ledger_skipped_rounds'),
    transactions: total('ledger_transactions'),
    lines: total('agent_lines', { format: 'ledger-tail', result: 'parsed' }),
  }
}

/** `a` and `b` together, for agents that counted one after the other; `a` without `b` where `sign` is -1. */
export const add = (a: LedgerTotals, b: LedgerTotals, sign: 1 | -1 = 1): LedgerTotals => ({
  proposed: a.proposed + sign * b.proposed,
  finalized: a.finalized + sign * b.finalized,
  timeouts: a.timeouts + sign * b.timeouts,
  skipped: a.skipped + sign * b.skipped,
  transactions: a.transactions + sign * b.transactions,
  lines: a.lines + sign * b.lines,
})

/** The files that control how far the stream goes. */
export const createLedgerControl = async (directory: string) => {
  /** In one step: a reader never sees an empty file, which would be block 0. */
  const write = async (name: string, value: number | string): Promise<void> => {
    await writeFile(join(directory, `${name}.new`), `${value}`)
    await rename(join(directory, `${name}.new`), join(directory, name))
  }
  const last = async (): Promise<number> => Number(await readFile(join(directory, 'last'), 'utf8'))
  await write('genesis', Date.now())
  await write('last', 0)
  await write('target', 0)
  const goTo = async (block: number): Promise<void> => write('target', block)
  /** Waits until the stream has printed a block. */
  const reached = async (block: number): Promise<void> => {
    await eventually(last, (seen) => seen >= block)
  }
  return {
    /** The last block that the stream has printed. */
    last,
    goTo,
    reached,
    /** Lets the stream print the blocks up to one, and waits for it. */
    runTo: async (block: number): Promise<void> => {
      await goTo(block)
      await reached(block)
    },
    /** Makes the program print that number of invalid lines between two blocks. */
    goMad: async (how: 'floods' | 'garbage', lines: number): Promise<void> => {
      await write('madness', `${how} ${lines}`)
    },
  }
}
