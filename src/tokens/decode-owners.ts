import { type TokenLog } from './ledger-log.ts'
import { type EventName } from './signatures.ts'
import { type Tally } from './tally.ts'
import { addressesOf, numberOf, sizeOf, wordAt, ZERO_ADDRESS } from './words.ts'

/** Tokens that change hands: one, or all from the first to the last. */
export interface Handover {
  readonly from: string
  /** Null where the event should name him and does not. */
  readonly to: string | null
  readonly first: bigint
  readonly last: bigint
}

interface Context {
  readonly tally: Tally
  /** The log right before it. */
  readonly before: TokenLog | undefined
  readonly punks: boolean
}

/** What a log of ERC-721 hands over; nothing where it is tallied as one that is not applied. */
export const handoversOf = (
  log: TokenLog,
  { tally, before, punks }: Context,
): readonly Handover[] => {
  if (log.event === 'PunkBought') return punkBought(log, tally, before)
  if (log.event === 'Transfer' && punks) {
    // It counts them, and names none; the sale after it may need it.
    tally.note('applied')
    return []
  }
  const decode = DECODERS[log.event] ?? malformed
  return decode(log, tally)
}

type Decoder = (log: TokenLog, tally: Tally) => readonly Handover[]

const malformed: Decoder = (_log, tally) => {
  tally.note('malformed')
  return []
}

const transfer: Decoder = (log, tally) => {
  const { topics, data } = log
  if (topics.length === 2) {
    tally.note('wrongStandard')
    return []
  }
  const isIndexed = topics.length === 3
  const isOld = topics.length === 0 && sizeOf(data) === 96
  if (!isIndexed && !isOld) return malformed(log, tally)
  if (isOld) tally.note('unindexed')
  else if (data !== '') tally.note('oversizeData')
  return [one(isIndexed ? topics : [0, 32, 64].map((byte) => wordAt(data, byte)), tally)]
}

/** From, to, id. */
const one = (words: readonly string[], tally: Tally): Handover => {
  const [from = '', to = ''] = addressesOf(words.slice(0, 2), tally)
  tally.note('applied')
  const id = numberOf(words[2] ?? '')
  return { from, to, first: id, last: id }
}

const consecutive: Decoder = (log, tally) => {
  const { topics, data } = log
  const [first, ...parties] = topics
  if (first === undefined || parties.length !== 2 || sizeOf(data) < 32) return malformed(log, tally)
  const last = numberOf(wordAt(data, 0))
  if (last < numberOf(first)) return malformed(log, tally)
  if (sizeOf(data) > 32) tally.note('oversizeData')
  return [{ ...one([...parties, first], tally), last }]
}

const NOBODY = '0'.repeat(64)

const assign: Decoder = (log, tally) =>
  log.topics.length === 1 && sizeOf(log.data) === 32
    ? [one([NOBODY, ...log.topics, log.data], tally)]
    : malformed(log, tally)

const punkTransfer: Decoder = (log, tally) =>
  log.topics.length === 2 && sizeOf(log.data) === 32
    ? [one([...log.topics, log.data], tally)]
    : malformed(log, tally)

/**
 * Where a bid was accepted, the contract clears the bid before it tells the buyer: nobody. The Transfer
 * right before has him.
 */
const punkBought = (
  log: TokenLog,
  tally: Tally,
  before: TokenLog | undefined,
): readonly Handover[] => {
  const [punk, seller, buyer] = log.topics
  if (
    punk === undefined ||
    seller === undefined ||
    buyer === undefined ||
    sizeOf(log.data) !== 32
  ) {
    return malformed(log, tally)
  }
  const told = one([seller, buyer, punk], tally)
  if (told.to !== ZERO_ADDRESS) return [told]
  const isSale =
    before?.event === 'Transfer' &&
    before.block === log.block &&
    before.index === log.index - 1 &&
    before.topics[0] === seller
  const real = isSale ? before.topics[1] : undefined
  if (real !== undefined) return [{ ...told, to: `0x${real.slice(24)}` }]
  tally.note('unknownBuyer')
  return [{ ...told, to: null }]
}

const DECODERS: Readonly<Partial<Record<EventName, Decoder>>> = {
  Transfer: transfer,
  ConsecutiveTransfer: consecutive,
  Assign: assign,
  PunkTransfer: punkTransfer,
}
