import { type Block, type StoredLog } from '../../store/store.ts'
import { type Keeps } from './scope.ts'
import { type Head, type Run } from './parse.ts'

/** What came of a block. */
export interface Told {
  /** In order of logIndex. */
  readonly logs: readonly StoredLog[]
  /** Some of it is of another block of that number. */
  readonly isMixed: boolean
}

/** Why this can not be all of the logs of the block, and no others; null where it is. */
export const flawOf = (head: Head, { logs, isMixed }: Told): string | null => {
  if (isMixed) return 'a log is of another block of that number'
  let transaction = -1
  for (const [index, log] of logs.entries()) {
    if (log.logIndex !== index) return `log ${index} is missing, or comes twice`
    if (log.transactionIndex < transaction) return 'logs are not in the order of transactions'
    transaction = log.transactionIndex
    // What a chain itself does after all transactions is of none of them, and may have logs.
    const isListed = transaction < head.transactions.length
    if (isListed && log.transactionHash !== head.transactions[transaction]) {
      return 'a log is of a transaction that the block does not have'
    }
  }
  return null
}

/** By block; null where a log is of none of these. */
export const byBlock = (
  heads: readonly Head[],
  runs: readonly Run[],
): ReadonlyMap<number, Told> | null => {
  const parts = new Map<number, Run[]>(heads.map(({ number }) => [number, []]))
  for (const run of runs) {
    const part = parts.get(run.block)
    if (part === undefined) return null
    part.push(run)
  }
  return new Map(
    heads.map(({ number, hash }) => {
      const part = parts.get(number) ?? []
      return [number, { logs: joined(part), isMixed: part.some((run) => run.blockHash !== hash) }]
    }),
  )
}

const joined = (runs: readonly Run[]): readonly StoredLog[] => {
  const [first, ...others] = runs
  if (first === undefined) return []
  const logs = others.length === 0 ? first.logs : runs.flatMap((run) => run.logs)
  return logs.every(({ logIndex }, index) => logIndex === index)
    ? logs
    : logs.toSorted((one, other) => one.logIndex - other.logIndex)
}

export const blockOf = (head: Head, logs: readonly StoredLog[], keeps: Keeps | null): Block => ({
  number: head.number,
  hash: head.hash,
  parentHash: head.parentHash,
  timestamp: head.timestamp,
  logCount: logs.length,
  logs: keeps === null ? logs : logs.filter(keeps),
})
