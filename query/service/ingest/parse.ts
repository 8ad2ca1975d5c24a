import { isObject } from '../../../src/core/json.ts'
import type { BlockHeader, StoredLog } from '../../store/store.ts'
import { IngestError } from './errors.ts'

/** A field of a response is invalid. The message names the expected value. */
class FieldError extends Error {
  override name = 'FieldError'
}

const QUANTITY = /^0x[0-9a-f]{1,14}$/i

/** `"0x1b4"` as a number; values beyond 2^53 - 1 are invalid. */
export const quantity = (value: unknown, name: string): number => {
  const number = typeof value === 'string' && QUANTITY.test(value) ? Number(value) : Number.NaN
  if (Number.isSafeInteger(number)) return number
  throw new FieldError(`${name} as a hex quantity`)
}

/** The stores keep indexes in 32 bits. */
const MAX_INDEX = 2 ** 32 - 1

const index = (value: unknown, name: string): number => {
  const number = quantity(value, name)
  if (number <= MAX_INDEX) return number
  throw new FieldError(`${name} of at most 32 bits`)
}

const DIGITS = new Uint8Array(128)
for (const digit of '0123456789abcdef') DIGITS[digit.charCodeAt(0)] = 1

/**
 * Whether the text is 0x and lower case hex digits. A busy block has 80,000 such texts, and this takes a third of the
 * time of a regular expression.
 */
const isHex = (text: string): boolean => {
  if (!text.startsWith('0x')) return false
  let all = 1
  for (let at = 2; at < text.length; at += 1) all &= DIGITS[text.charCodeAt(at)] ?? 0
  return all === 1
}

const reader =
  (what: string, isLength: (digits: number) => boolean) =>
  (value: unknown, name: string): string => {
    if (typeof value === 'string' && isLength(value.length - 2)) {
      if (isHex(value)) return value
      // Some nodes return addresses in mixed case.
      const lower = value.toLowerCase()
      if (isHex(lower)) return lower
    }
    throw new FieldError(`${name} as ${what}`)
  }

const hash = reader('32 bytes in hex', (digits) => digits === 64)
const address = reader('20 bytes in hex', (digits) => digits === 40)
const bytes = reader('bytes in hex', (digits) => digits % 2 === 0)

export const list = (value: unknown, name: string): readonly unknown[] => {
  if (Array.isArray(value)) return value
  throw new FieldError(`${name} as a list`)
}

const record = (value: unknown, name: string): Readonly<Record<string, unknown>> => {
  if (isObject(value)) return value
  throw new FieldError(`${name} as an object`)
}

/** Parses a response. Throws an IngestError if it is invalid. */
export const parseResult = <T>(what: string, value: unknown, parse: (value: unknown) => T): T => {
  try {
    return parse(value)
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    throw new IngestError('invalid', {
      doing: `parse ${what}`,
      happened: `expected ${error.message}`,
      evidence: (JSON.stringify(value) ?? '').slice(0, 400),
    })
  }
}

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
    logIndex: index(log['logIndex'], 'logIndex'),
    transactionIndex: index(log['transactionIndex'], 'transactionIndex'),
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
  return topics.map((topic) => hash(topic, 'topics'))
}

export type Receipt = ReturnType<typeof parseReceipt>

export const parseReceipt = (value: unknown) => {
  const receipt = record(value, 'a receipt')
  return {
    blockHash: hash(receipt['blockHash'], 'blockHash'),
    transactionHash: hash(receipt['transactionHash'], 'transactionHash'),
    groups: parseLogs(receipt['logs']),
  }
}
