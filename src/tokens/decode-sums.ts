import { type TokenLog } from './ledger-log.ts'
import { type EventName } from './signatures.ts'
import { type Tally } from './tally.ts'
import { addressesOf, numberOf, sizeOf, wordAt, ZERO_ADDRESS } from './words.ts'

/** An amount that leaves one holder for another. */
export interface Movement {
  readonly from: string
  readonly to: string
  /** 0 for ERC-20. */
  readonly id: bigint
  readonly amount: bigint
}

type Decoder = (log: TokenLog, tally: Tally) => readonly Movement[]

/** What a log of ERC-20 or ERC-1155 moves; nothing where it is tallied as one that is not applied. */
export const movementsOf: Decoder = (log, tally) => {
  const decode = DECODERS[log.event] ?? malformed
  return decode(log, tally)
}

const malformed: Decoder = (_log, tally) => {
  tally.note('malformed')
  return []
}

/** Old contracts index fewer arguments than the standard: what is not among the topics is in the data. */
const transfer: Decoder = (log, tally) => {
  const { topics, data } = log
  if (topics.length === 3) {
    tally.note('wrongStandard')
    return []
  }
  const missing = 3 - topics.length
  const size = sizeOf(data)
  if (topics.length === 2 ? size < 32 : size !== 32 * missing) return malformed(log, tally)
  if (size > 32 * missing) tally.note('oversizeData')
  if (topics.length < 2) tally.note('unindexed')
  const words = [...topics, ...Array.from({ length: missing }, (_, at) => wordAt(data, 32 * at))]
  const [from = '', to = ''] = addressesOf(words.slice(0, 2), tally)
  tally.note('applied')
  return [{ from, to, id: 0n, amount: numberOf(words[2] ?? '') }]
}

const wrapping: Decoder = (log, tally) => {
  const { event, topics, data } = log
  if (topics.length !== 1 || sizeOf(data) < 32) return malformed(log, tally)
  if (sizeOf(data) > 32) tally.note('oversizeData')
  const [holder = ''] = addressesOf(topics, tally)
  tally.note('applied')
  const amount = numberOf(wordAt(data, 0))
  return event === 'Deposit'
    ? [{ from: ZERO_ADDRESS, to: holder, id: 0n, amount }]
    : [{ from: holder, to: ZERO_ADDRESS, id: 0n, amount }]
}

const single: Decoder = (log, tally) => {
  const { topics, data } = log
  if (topics.length !== 3 || sizeOf(data) < 64) return malformed(log, tally)
  if (sizeOf(data) > 64) tally.note('oversizeData')
  const [from = '', to = ''] = addressesOf(topics.slice(1), tally)
  tally.note('applied')
  return [{ from, to, id: numberOf(wordAt(data, 0)), amount: numberOf(wordAt(data, 32)) }]
}

const batch: Decoder = (log, tally) => {
  const { topics, data } = log
  if (topics.length !== 3 || sizeOf(data) < 64) return malformed(log, tally)
  const ids = arrayAt(data, numberOf(wordAt(data, 0)))
  const amounts = arrayAt(data, numberOf(wordAt(data, 32)))
  if (ids === undefined || ids.length !== amounts?.length) return malformed(log, tally)
  const [from = '', to = ''] = addressesOf(topics.slice(1), tally)
  tally.note('applied')
  return ids.map((id, at) => ({ from, to, id, amount: amounts[at] ?? 0n }))
}

/** The words of an array whose length stands at this offset; undefined where it does not lie wholly in the data. */
const arrayAt = (data: string, offset: bigint): readonly bigint[] | undefined => {
  const size = sizeOf(data)
  if (offset > size - 32) return undefined
  const start = Number(offset) + 32
  const length = numberOf(wordAt(data, start - 32))
  if (length > Math.floor((size - start) / 32)) return undefined
  return Array.from({ length: Number(length) }, (_, at) => numberOf(wordAt(data, start + 32 * at)))
}

const DECODERS: Readonly<Partial<Record<EventName, Decoder>>> = {
  Transfer: transfer,
  Deposit: wrapping,
  Withdrawal: wrapping,
  TransferSingle: single,
  TransferBatch: batch,
}
