import { expectStored } from '../../query/store/checks.ts'
import { StoreError } from '../../query/store/errors.ts'
import {
  type Block,
  encodedBytes,
  type Filter,
  type LogStore,
  type Selection,
  type StoredLog,
  type StoreRange,
} from '../../query/store/store.ts'
import type { LogField } from '../../query/log-fields.ts'
import { shipped } from './shipped.ts'

/** The naive filter: what a store must bring. */
export const keeps = ({ addresses, topics }: Filter, log: StoredLog): boolean =>
  (addresses.length === 0 || addresses.includes(log.address)) &&
  topics.every((values, position) => values.length === 0 || values.some((value) => value === log.topics[position]))

export const VALUES: Readonly<Record<LogField, (block: Block, log: StoredLog) => string | number | boolean | null>> = {
  removed: () => false,
  log_index: (_, log) => log.logIndex,
  transaction_index: (_, log) => log.transactionIndex,
  transaction_hash: (_, log) => log.transactionHash,
  block_hash: (block) => block.hash,
  block_number: (block) => block.number,
  address: (_, log) => log.address,
  data: (_, log) => log.data,
  topic0: (_, log) => log.topics[0] ?? null,
  topic1: (_, log) => log.topics[1] ?? null,
  topic2: (_, log) => log.topics[2] ?? null,
  topic3: (_, log) => log.topics[3] ?? null,
}

/** A store in memory, as plain as it can be: the oracle of the real ones, and a stand-in where the store is not the matter. */
export const memoryStore = (chainId = 143, Failure = StoreError): LogStore => {
  let blocks: readonly Block[] = []
  const range = (): StoreRange | null => {
    const [first, last] = [blocks[0], blocks.at(-1)]
    return first === undefined || last === undefined
      ? null
      : { first: first.number, last: last.number, lastHash: last.hash }
  }
  return {
    chainId,
    range: promised(range),
    append: promised((more) => {
      const next = [...blocks, ...more]
      for (const [index, block] of next.entries()) {
        const before = next[index - 1]
        if (before !== undefined && (before.number + 1 !== block.number || before.hash !== block.parentHash))
          throw new Failure('conflict', {
            doing: `add block ${block.number}`,
            happened: `it does not follow block ${before.number}`,
          })
      }
      blocks = next
    }),
    replace: promised((fresh) => {
      expectStored(blocks, fresh)
      blocks = blocks.map((block) => fresh.find(({ number }) => number === block.number) ?? block)
    }),
    read: promised((selection, signal) => {
      if (signal.aborted) throw new Failure('aborted', { doing: 'read logs', happened: 'the caller went' })
      const held = range()
      if (held === null) throw new Failure('empty', { doing: 'read logs', happened: 'nothing is held' })
      if (selection.from < held.first)
        throw new Failure('pruned', { doing: 'read logs', happened: `the first block is ${held.first}` }, held.first)
      return { ...pageOf(blocks, selection), range: held }
    }),
    heads: promised((numbers) =>
      blocks
        .filter(({ number }) => numbers.includes(number))
        .map(({ number, hash, parentHash, timestamp, logs }) => ({
          number,
          hash,
          parentHash,
          timestamp,
          kept: logs.length,
        })),
    ),
    prune: promised((firstKept) => {
      blocks = blocks.filter((block, index) => block.number >= firstKept || index === blocks.length - 1)
    }),
    size: promised(() => ({
      bytes: 0,
      logs: blocks.reduce((sum, { logs }) => sum + logs.length, 0),
      blocks: blocks.length,
    })),
    close: () => Promise.resolve(),
  }
}

/** The same with the errors of the built program, for its service. */
export const servedStore = (chainId?: number): LogStore => memoryStore(chainId, shipped.StoreError)

const promised =
  <Args extends readonly unknown[], T>(act: (...args: Args) => T) =>
  (...args: Args): Promise<T> =>
    new Promise((resolve) => {
      resolve(act(...args))
    })

const pageOf = (blocks: readonly Block[], { from, to, filters, fields, encoding, maxLogs, maxBytes }: Selection) => {
  const valueOf = (field: LogField, block: Block, log: StoredLog) => {
    const value = VALUES[field](block, log)
    return typeof value === 'string' ? encodedBytes(value, encoding) : value
  }
  const rows: { readonly block: Block; readonly log: StoredLog }[] = []
  let next = from
  let bytes = 0
  for (const block of blocks.filter(({ number }) => number >= from && number <= to)) {
    if (next > from && (rows.length >= maxLogs || bytes >= maxBytes)) break
    for (const log of block.logs.filter((one) => filters.some((filter) => keeps(filter, one)))) {
      rows.push({ block, log })
      bytes += fields.reduce((sum, field) => sum + String(valueOf(field, block, log) ?? '').length, 0)
    }
    next = block.number + 1
  }
  return {
    count: rows.length,
    blocks: rows.map(({ block }) => block.number),
    columns: new Map(fields.map((field) => [field, rows.map(({ block, log }) => valueOf(field, block, log))])),
    next,
  }
}
