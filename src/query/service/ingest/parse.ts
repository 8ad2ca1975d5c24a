import { type BlockHeader, type StoredLog } from '../../store/store.ts'
import { address, bytes, FieldError, hash, isRecord, list, quantity, record } from './fields.ts'

/** What the header of a block tells. */
export interface Head extends BlockHeader {
  /** The hashes of its transactions, in their order. */
  readonly transactions: readonly string[]
  /** 512 hex digits; null where the node does not tell it. */
  readonly bloom: string | null
}

/** Logs that came one after another, and the block that they say they are of. */
export interface Run {
  readonly block: number
  readonly blockHash: string
  readonly logs: readonly StoredLog[]
}

/** Null where the node does not have the block. */
export const parseHead = (value: unknown): Head | null => {
  if (value === null) return null
  const block = record(value, 'a block')
  return {
    number: quantity(block['number'], 'number'),
    hash: hash(block['hash'], 'hash'),
    parentHash: hash(block['parentHash'], 'parentHash'),
    timestamp: seconds(block['timestamp']),
    transactions: list(block['transactions'], 'transactions').map((each) =>
      hash(isRecord(each) ? each['hash'] : each, 'transactions'),
    ),
    bloom: bloomOf(block['logsBloom']),
  }
}

/** A time in milliseconds would pass for one in seconds, of a far future. */
const LATEST = 100_000_000_000

const seconds = (value: unknown): number => {
  const time = quantity(value, 'timestamp')
  if (time < LATEST) return time
  throw new FieldError('timestamp in seconds')
}

const bloomOf = (value: unknown): string | null => {
  if (value === undefined || value === null) return null
  const digits = bytes(value, 'logsBloom').slice(2)
  return digits.length === 512 ? digits : null
}

/**
 * Of a busy chain, 16,000 logs a block: no object and no look at a text more than it takes. Logs of one block, and of one
 * transaction, follow each other, and what is the same text as before has been looked at.
 */
export const parseLogs = (value: unknown): readonly Run[] => {
  const runs: { readonly block: number; readonly blockHash: string; readonly logs: StoredLog[] }[] =
    []
  let [numberBefore, hashBefore]: unknown[] = []
  let before: StoredLog | undefined
  for (const each of list(value, 'logs')) {
    const log = record(each, 'a log')
    if (log['removed'] === true) throw new FieldError('logs that stay: one is marked as removed')
    let run = runs.at(-1)
    if (
      run === undefined ||
      log['blockNumber'] !== numberBefore ||
      log['blockHash'] !== hashBefore
    ) {
      numberBefore = log['blockNumber']
      hashBefore = log['blockHash']
      const block = quantity(numberBefore, 'blockNumber')
      run = { block, blockHash: hash(hashBefore, 'blockHash'), logs: [] }
      runs.push(run)
    }
    before = parseLog(log, before)
    run.logs.push(before)
  }
  return runs
}

const parseLog = (
  log: Readonly<Record<string, unknown>>,
  before: StoredLog | undefined,
): StoredLog => {
  const transaction = log['transactionHash']
  return {
    logIndex: quantity(log['logIndex'], 'logIndex'),
    transactionIndex: quantity(log['transactionIndex'], 'transactionIndex'),
    transactionHash:
      transaction === before?.transactionHash && before !== undefined
        ? before.transactionHash
        : hash(transaction, 'transactionHash'),
    address: address(log['address'], 'address'),
    topics: parseTopics(log['topics']),
    data: bytes(log['data'], 'data'),
  }
}

const parseTopics = (value: unknown): readonly string[] => {
  const topics = list(value, 'topics')
  if (topics.length > 4) throw new FieldError('at most four topics')
  return topics.map(asTopic)
}

const asTopic = (topic: unknown): string => hash(topic, 'topics')

export interface Receipt {
  readonly blockHash: string
  readonly transactionHash: string
  readonly runs: readonly Run[]
}

export const parseReceipt = (value: unknown): Receipt => {
  const receipt = record(value, 'a receipt')
  return {
    blockHash: hash(receipt['blockHash'], 'blockHash'),
    transactionHash: hash(receipt['transactionHash'], 'transactionHash'),
    runs: parseLogs(receipt['logs']),
  }
}
