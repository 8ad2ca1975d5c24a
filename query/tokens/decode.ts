import { repeatedPosition } from '../client/errors.ts'
import type { Page, RawLog } from '../client/types.ts'
import type { EventName } from './signatures.ts'
import { invalidPage, StatCounter } from './types.ts'

/** A log that cannot be decoded: it is counted and not applied. */
const malformed = (_log: TokenLog, stats: StatCounter): readonly never[] => {
  stats.add('malformed')
  return []
}

/** A transfer of an amount from one holder to another. Each is a word of 64 hex digits; an address may have more than 20 bytes. */
export interface AmountTransfer {
  readonly from: string
  readonly to: string
  /** 0 for ERC-20. */
  readonly id: string
  readonly amount: string
}

type AmountDecoder = (log: TokenLog, stats: StatCounter) => readonly AmountTransfer[]

/** The transfers of a log of ERC-20 or ERC-1155; empty if the log is counted as not applied. */
export const amountTransfersOf: AmountDecoder = (log, stats) => {
  const decode = AMOUNT_DECODERS[log.event] ?? malformed
  return decode(log, stats)
}

/** Old contracts index fewer arguments than the standard: the other arguments are in the data. */
const decodeErc20Transfer: AmountDecoder = (log, stats) => {
  const { topics, data } = log
  if (topics.length === 3) {
    stats.add('wrongStandard')
    return []
  }
  const missing = 3 - topics.length
  const size = sizeOf(data)
  if (topics.length === 2 ? size < 32 : size !== 32 * missing) return malformed(log, stats)
  if (size > 32 * missing) stats.add('oversizeData')
  if (topics.length < 2) stats.add('unindexed')
  const [from = '', to = wordAt(data, 32 * missing - 64)] = missing === 3 ? [wordAt(data, 0)] : topics
  countApplied(from, to, stats)
  return [{ from, to, id: ZERO_WORD, amount: wordAt(data, 32 * missing - 32) }]
}

const decodeWrapping: AmountDecoder = (log, stats) => {
  const { event, topics, data } = log
  if (topics.length !== 1 || sizeOf(data) < 32) return malformed(log, stats)
  if (sizeOf(data) > 32) stats.add('oversizeData')
  const [holder = ''] = topics
  countApplied(holder, holder, stats)
  const amount = wordAt(data, 0)
  return event === 'Deposit'
    ? [{ from: ZERO_WORD, to: holder, id: ZERO_WORD, amount }]
    : [{ from: holder, to: ZERO_WORD, id: ZERO_WORD, amount }]
}

const decodeTransferSingle: AmountDecoder = (log, stats) => {
  const { topics, data } = log
  if (topics.length !== 3 || sizeOf(data) < 64) return malformed(log, stats)
  if (sizeOf(data) > 64) stats.add('oversizeData')
  const [, from = '', to = ''] = topics
  countApplied(from, to, stats)
  return [{ from, to, id: wordAt(data, 0), amount: wordAt(data, 32) }]
}

const decodeTransferBatch: AmountDecoder = (log, stats) => {
  const { topics, data } = log
  if (topics.length !== 3 || sizeOf(data) < 64) return malformed(log, stats)
  const ids = arrayAt(data, numberOf(wordAt(data, 0)))
  const amounts = arrayAt(data, numberOf(wordAt(data, 32)))
  if (ids === undefined || ids.length !== amounts?.length) return malformed(log, stats)
  const [, from = '', to = ''] = topics
  countApplied(from, to, stats)
  return ids.map((id, at) => ({ from, to, id, amount: amounts[at] ?? '' }))
}

/** The words of the array at this offset, which begins with its length; undefined unless all of it is in the data. */
const arrayAt = (data: string, offset: bigint): readonly string[] | undefined => {
  const size = sizeOf(data)
  if (offset > size - 32) return undefined
  const start = Number(offset) + 32
  const length = numberOf(wordAt(data, start - 32))
  if (length > Math.floor((size - start) / 32)) return undefined
  return Array.from({ length: Number(length) }, (_, at) => wordAt(data, start + 32 * at))
}

const AMOUNT_DECODERS: Readonly<Partial<Record<EventName, AmountDecoder>>> = {
  Transfer: decodeErc20Transfer,
  Deposit: decodeWrapping,
  Withdrawal: decodeWrapping,
  TransferSingle: decodeTransferSingle,
  TransferBatch: decodeTransferBatch,
}

/** A transfer of one token, or of all tokens from the first to the last. */
export interface OwnerTransfer {
  readonly from: string
  /** Null if the event does not name the buyer. */
  readonly to: string | null
  readonly first: bigint
  readonly last: bigint
  /** The id is in the data, where ERC-20 has the amount; the log is counted as `wrongStandard`. */
  readonly isUnindexed?: true
}

interface DecodeContext {
  readonly stats: StatCounter
  /** The previous log of the page. */
  readonly before: TokenLog | undefined
  readonly punks: boolean
}

/** The transfers of a log of ERC-721; empty if the log is counted as not applied. */
export const ownerTransfersOf = (log: TokenLog, { stats, before, punks }: DecodeContext): readonly OwnerTransfer[] => {
  if (log.event === 'PunkBought') return decodePunkBought(log, stats, before)
  if (log.event === 'Transfer' && punks) {
    // This event has a count of punks and no id. It is needed only by a PunkBought that follows it.
    stats.add('applied')
    return []
  }
  const decode = OWNER_DECODERS[log.event] ?? malformed
  return decode(log, stats)
}

type OwnerDecoder = (log: TokenLog, stats: StatCounter) => readonly OwnerTransfer[]

const decodeErc721Transfer: OwnerDecoder = (log, stats) => {
  const { topics, data } = log
  if (topics.length === 2) {
    stats.add('wrongStandard')
    const isId = sizeOf(data) === 32 && topics.every((topic) => topic.startsWith(PADDING))
    return isId ? [{ ...ownerTransferOf([...topics, data], new StatCounter()), isUnindexed: true }] : []
  }
  const isIndexed = topics.length === 3
  const isOld = topics.length === 0 && sizeOf(data) === 96
  if (!isIndexed && !isOld) return malformed(log, stats)
  if (isOld) stats.add('unindexed')
  else if (data !== '') stats.add('oversizeData')
  return [ownerTransferOf(isIndexed ? topics : [0, 32, 64].map((byte) => wordAt(data, byte)), stats)]
}

/** `words` are the sender, the recipient and the id. */
const ownerTransferOf = (words: readonly string[], stats: StatCounter): OwnerTransfer => {
  const [from = '', to = '', id = ''] = words
  countApplied(from, to, stats)
  return { from: addressOf(from), to: addressOf(to), first: numberOf(id), last: numberOf(id) }
}

const decodeConsecutiveTransfer: OwnerDecoder = (log, stats) => {
  const { topics, data } = log
  const [first, ...parties] = topics
  if (first === undefined || parties.length !== 2 || sizeOf(data) < 32) return malformed(log, stats)
  const last = numberOf(wordAt(data, 0))
  if (last < numberOf(first)) return malformed(log, stats)
  if (sizeOf(data) > 32) stats.add('oversizeData')
  return [{ ...ownerTransferOf([...parties, first], stats), last }]
}

/** Assign, which has no sender, and PunkTransfer: the id is in the data. */
const decodePunkTransfer: OwnerDecoder = (log, stats) => {
  const parties = log.event === 'Assign' ? [ZERO_WORD, ...log.topics] : log.topics
  return parties.length === 2 && sizeOf(log.data) === 32
    ? [ownerTransferOf([...parties, log.data], stats)]
    : malformed(log, stats)
}

/**
 * If a bid was accepted, the contract clears the bid before it emits the event, so the buyer in it is the zero address.
 * The Transfer log right before it has the buyer.
 */
const decodePunkBought = (
  log: TokenLog,
  stats: StatCounter,
  before: TokenLog | undefined,
): readonly OwnerTransfer[] => {
  const [punk, seller, buyer] = log.topics
  if (punk === undefined || seller === undefined || buyer === undefined || sizeOf(log.data) !== 32) {
    return malformed(log, stats)
  }
  const reported = ownerTransferOf([seller, buyer, punk], stats)
  if (reported.to !== ZERO_ADDRESS) return [reported]
  const isSale =
    before?.event === 'Transfer' &&
    before.block === log.block &&
    before.index === log.index - 1 &&
    before.topics[0] === seller
  const recipient = isSale ? before.topics[1] : undefined
  if (recipient !== undefined) return [{ ...reported, to: addressOf(recipient) }]
  stats.add('unknownBuyer')
  return [{ ...reported, to: null }]
}

const OWNER_DECODERS: Readonly<Partial<Record<EventName, OwnerDecoder>>> = {
  Transfer: decodeErc721Transfer,
  ConsecutiveTransfer: decodeConsecutiveTransfer,
  Assign: decodePunkTransfer,
  PunkTransfer: decodePunkTransfer,
}

/** The hex digits of a word of 32 bytes. */
const WORD_DIGITS = 64

export const ZERO_WORD = '0'.repeat(WORD_DIGITS)

/** The sender of a mint and the recipient of a burn. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

const sizeOf = (digits: string): number => digits.length / 2

const wordAt = (data: string, byte: number): string => data.slice(2 * byte, 2 * byte + WORD_DIGITS)

const numberOf = (word: string): bigint => BigInt(`0x${word}`)

/** Counts the log as applied, and `dirtyTopic` once if the bytes before an address are not zero. */
const countApplied = (from: string, to: string, stats: StatCounter): void => {
  stats.add('applied')
  if (!from.startsWith(PADDING) || !to.startsWith(PADDING)) stats.add('dirtyTopic')
}

/** The last 20 bytes of a word. */
export const addressOf = (word: string): string => `0x${word.slice(PADDING.length)}`

const PADDING = '0'.repeat(24)

/** A log of the contract, after checks. */
export interface TokenLog {
  readonly block: number
  readonly index: number
  readonly event: EventName
  /** Without topic0 and absent topics; 64 digits each, lower case, without 0x. */
  readonly topics: readonly string[]
  /** Hex digits, lower case, without 0x. */
  readonly data: string
}

/** Selects the logs of one ledger in a page. */
interface Selection {
  /** In lower case. */
  readonly contract: string
  /** By topic0. */
  readonly events: ReadonlyMap<string, EventName>
  /** Blocks below this one were in earlier pages. */
  readonly through: number
}

/** The selected logs of a page by block and index. Counts the others. Throws QueryError('protocol'), also for two logs at one position. */
export const tokenLogs = (page: Page, filter: Selection, stats: StatCounter): readonly TokenLog[] => {
  const byPosition = new Map<string, TokenLog>()
  const logs: TokenLog[] = []
  let inOrder = true
  for (const raw of page.logs()) {
    stats.add('logs')
    checkPosition(page, raw)
    const log = readLog(raw, filter)
    if (log === undefined) stats.add('unrequested')
    else if (log.block < filter.through) {
      // A log that has been applied cannot be reversed.
      if (raw.removed) {
        throw invalidPage(`a log of block ${log.block} was removed after the block was applied`)
      }
      stats.add('duplicate')
    } else {
      const last = logs.at(-1)
      const follows = last === undefined || isBefore(last, log)
      if (inOrder && (raw.removed || !follows)) {
        inOrder = false
        for (const one of logs) addLog(byPosition, one)
      }
      if (inOrder) logs.push(log)
      else if (raw.removed) {
        stats.add('removed')
        byPosition.delete(positionOf(log))
      } else addLog(byPosition, log)
    }
  }
  if (inOrder) return logs
  return [...byPosition.values()].toSorted(comparePositions)
}

const checkPosition = (page: Page, { blockNumber, logIndex }: RawLog): void => {
  if (blockNumber < page.from || blockNumber >= page.next) {
    throw invalidPage(`a log of block ${blockNumber} is in a page of the blocks ${page.from} to ${page.next - 1}`)
  }
  if (!Number.isSafeInteger(blockNumber) || !Number.isSafeInteger(logIndex) || logIndex < 0) {
    throw invalidPage(`a log has the invalid position ${logIndex} in block ${blockNumber}`)
  }
}

const TOPIC = /^0x[\da-f]{64}$/
const DATA = /^0x(?:[\da-f]{2})*$/

const readLog = (raw: RawLog, { contract, events }: Selection): TokenLog | undefined => {
  const data = raw.data?.toLowerCase() ?? '0x'
  const present: string[] = []
  for (const [at, topic] of raw.topics.entries()) {
    if (topic === null) continue
    const lower = topic.toLowerCase()
    // A gap between topics means that a field was not selected, so the event is unknown.
    if (present.length < at || !TOPIC.test(lower)) {
      throw invalidPage('the topics of a log are not hex of 32 bytes', raw.topics.join(' '))
    }
    present.push(lower.slice(2))
  }
  if (!DATA.test(data)) throw invalidPage('the data of a log is not hex', data)
  const [topic0, ...topics] = present
  const event = events.get(`0x${topic0}`)
  if (event === undefined || (raw.address !== null && raw.address.toLowerCase() !== contract)) return undefined
  return { block: raw.blockNumber, index: raw.logIndex, event, topics, data: data.slice(2) }
}

const comparePositions = (a: TokenLog, b: TokenLog): number => a.block - b.block || a.index - b.index

const isBefore = (a: TokenLog, b: TokenLog): boolean => comparePositions(a, b) < 0

const positionOf = ({ block, index }: TokenLog): string => `${block}/${index}`

const addLog = (byPosition: Map<string, TokenLog>, log: TokenLog): void => {
  if (byPosition.has(positionOf(log))) throw repeatedPosition(log.block, log.index)
  byPosition.set(positionOf(log), log)
}
