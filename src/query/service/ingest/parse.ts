import { isObject } from '../../../core/json.ts'
import { type BlockHeader, type StoredLog } from '../../store/store.ts'
import { address, bytes, FieldError, hash, list, quantity, record } from './fields.ts'

/** A block header with the fields that verify the logs. */
export interface FullHeader extends BlockHeader {
  /** Transaction hashes, in order. */
  readonly transactions: readonly string[]
  /** 512 hex digits; null if the node does not return it. */
  readonly bloom: string | null
}

/** Consecutive logs with the same block number and hash. */
export interface LogGroup {
  readonly block: number
  readonly blockHash: string
  readonly logs: readonly StoredLog[]
}

/** Null if the node does not have the block. */
export const parseHead = (value: unknown): FullHeader | null => {
  if (value === null) return null
  const block = record(value, 'a block')
  return {
    number: quantity(block['number'], 'number'),
    hash: hash(block['hash'], 'hash'),
    parentHash: hash(block['parentHash'], 'parentHash'),
    timestamp: seconds(block['timestamp']),
    transactions: list(block['transactions'], 'transactions').map((each) =>
      hash(isObject(each) ? each['hash'] : each, 'transactions'),
    ),
    bloom: bloomOf(block['logsBloom']),
  }
}

/** Detects times in milliseconds, which would be far in the future as seconds. */
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
 * Hot path: a busy chain has 16,000 logs per block, so this avoids allocations and validates repeated block and
 * transaction hashes once. Logs of one block, and of one transaction, are consecutive.
 */
export const parseLogs = (value: unknown): readonly LogGroup[] => {
  const groups: {
    readonly block: number
    readonly blockHash: string
    readonly logs: StoredLog[]
  }[] = []
  let [numberBefore, hashBefore]: unknown[] = []
  let before: StoredLog | undefined
  for (const each of list(value, 'logs')) {
    const log = record(each, 'a log')
    if (log['removed'] === true) throw new FieldError('final logs: one is marked as removed')
    let group = groups.at(-1)
    if (group === undefined || log['blockNumber'] !== numberBefore || log['blockHash'] !== hashBefore) {
      numberBefore = log['blockNumber']
      hashBefore = log['blockHash']
      const block = quantity(numberBefore, 'blockNumber')
      group = { block, blockHash: hash(hashBefore, 'blockHash'), logs: [] }
      groups.push(group)
    }
    before = parseLog(log, before)
    group.logs.push(before)
  }
  return groups
}

const parseLog = (log: Readonly<Record<string, unknown>>, before: StoredLog | undefined): StoredLog => {
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
  readonly groups: readonly LogGroup[]
}

export const parseReceipt = (value: unknown): Receipt => {
  const receipt = record(value, 'a receipt')
  return {
    blockHash: hash(receipt['blockHash'], 'blockHash'),
    transactionHash: hash(receipt['transactionHash'], 'transactionHash'),
    groups: parseLogs(receipt['logs']),
  }
}
