import { ECDH } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { type Quantity, withinBounds } from '../core/bounds.ts'
import { ParseError } from '../core/errors.ts'

/** The staking precompile of the node. */
export const STAKING_ADDRESS = '0x0000000000000000000000000000000000001000'

/** One token in wei. */
export const WEI = 10n ** 18n
/** A commission of 100 %. */
export const FULL_COMMISSION = 10n ** 18n
/** The scale of the reward accumulator: tokens per token times this. */
export const ACCUMULATOR_SCALE = 10n ** 36n

export const SET_VIEWS = ['execution', 'consensus', 'snapshot'] as const
export type SetView = (typeof SET_VIEWS)[number]

const SELECTORS = {
  epoch: '757991a8',
  validator: '2b6d639a',
  delegator: '573c1ce0',
  withdrawal: '56fa2045',
} as const
const SET_SELECTORS: Readonly<Record<SetView, string>> = {
  execution: '7cb074df',
  consensus: 'fb29b729',
  snapshot: 'de66a368',
}

const argument = (value: bigint): string => value.toString(16).padStart(64, '0')
const addressArgument = (address: string): string => address.slice(2).toLowerCase().padStart(64, '0')

/** The data of the calls. An address is 0x and 40 hex digits. */
export const stakingCall = {
  epoch: (): string => `0x${SELECTORS.epoch}`,
  validator: (id: bigint): string => `0x${SELECTORS.validator}${argument(id)}`,
  delegator: (id: bigint, address: string): string =>
    `0x${SELECTORS.delegator}${argument(id)}${addressArgument(address)}`,
  withdrawal: (id: bigint, address: string, request: number): string =>
    `0x${SELECTORS.withdrawal}${argument(id)}${addressArgument(address)}${argument(BigInt(request))}`,
  set: (view: SetView, start: bigint): string => `0x${SET_SELECTORS[view]}${argument(start)}`,
} as const

/** ValidatorRewarded(uint64 indexed id, address indexed from, uint256 amount, uint64 epoch). */
const VALIDATOR_REWARDED = '0x3a420a01486b6b28d6ae89c51f5c3bde3e0e74eecbb646a0c481ccba3aae3754'
/**
 * From this address each block rewards the validator that proposed it (category-labs/monad, staking_contract.cpp,
 * syscall_reward; the address: category-labs/monad-bft, monad-system-calls/src/lib.rs). Rewards of others have theirs.
 */
const SYSTEM_SENDER = '0x6f49a8f621353f12378d0046e7d7e4b9b249dc9e'

/** The part of a filter of eth_getLogs that selects the blocks that a validator has proposed. */
export const proposedBlocksFilter = (id: bigint) => ({
  address: STAKING_ADDRESS,
  topics: [VALIDATOR_REWARDED, `0x${argument(id)}`, `0x${addressArgument(SYSTEM_SENDER)}`],
})

export type StakingEpoch = ReturnType<typeof parseStakingEpoch>
export type StakingValidator = ReturnType<typeof parseStakingValidator>
export type StakingDelegator = ReturnType<typeof parseStakingDelegator>

const WORD = 64

/** Reads the words of a return value; throws a ParseError for anything that the node does not return. */
const createWords = (what: string, bytes: string) => {
  const fail = (expected: string): never => {
    throw new ParseError(what, expected, bytes)
  }
  const at = (index: number): string => {
    const word = bytes.slice(index * WORD, (index + 1) * WORD)
    return word.length === WORD ? word : fail(`at least ${index + 1} words`)
  }
  const word = (index: number): bigint => BigInt(`0x${at(index)}`)
  const bounded =
    (name: string, limit: bigint) =>
    (index: number): bigint => {
      const value = word(index)
      return value < limit ? value : fail(`${name} in word ${index}`)
    }
  const u32 = bounded('a uint32', 2n ** 32n)
  const bit = bounded('a bool', 2n)
  const within =
    (quantity: Quantity, name: string) =>
    (index: number): bigint =>
      withinBounds(quantity, word(index)) ?? fail(`${name} in word ${index}`)
  const u64 = within('u64', 'a uint64')
  return {
    fail,
    word,
    wei: within('wei', 'an amount in wei'),
    commission: within('commission', 'a commission'),
    u64,
    u32,
    flag: (index: number): boolean => bit(index) === 1n,
    address: (index: number): string => {
      const text = at(index)
      return /^0{24}/.test(text) ? `0x${text.slice(24)}` : fail(`an address in word ${index}`)
    },
    exactly: (expected: number, index: number): void => {
      if (word(index) !== BigInt(expected)) fail(`${expected} in word ${index}`)
    },
    /** `length` bytes from this word on, padded with zeros to complete words. */
    bytes: (index: number, length: number): string => {
      const end = index * WORD + Math.ceil(length / 32) * WORD
      const padded = bytes.slice(index * WORD, end)
      if (padded.length < end - index * WORD || /[^0]/.test(padded.slice(2 * length))) fail(`${length} padded bytes`)
      return padded.slice(0, 2 * length)
    },
    count: (words: number): void => {
      if (bytes.length !== words * WORD) fail(`${words} words`)
    },
  }
}

/** Each parser reads the hex digits of a return value, without 0x, and throws a ParseError. */
export const parseStakingEpoch = (bytes: string) => {
  const words = createWords('the return value of getEpoch', bytes)
  words.count(2)
  return {
    epoch: words.u64(0),
    /** Whether the boundary block of this epoch has passed: the set of the next epoch is fixed. */
    isInDelay: words.flag(1),
  }
}

const HEAD = 12
const SECP_BYTES = 33
const BLS_BYTES = 48

/**
 * A validator; one that does not exist has the address 0 and keys of zeros. Amounts are in wei, commissions in parts of
 * FULL_COMMISSION.
 */
export const parseStakingValidator = (bytes: string) => {
  const words = createWords('the return value of getValidator', bytes)
  words.count(18)
  words.exactly(HEAD * 32, 10)
  words.exactly((HEAD + 3) * 32, 11)
  words.exactly(SECP_BYTES, HEAD)
  words.exactly(BLS_BYTES, HEAD + 3)
  return {
    /** 0x and 40 hex digits. */
    authAddress: words.address(0),
    /** 0: may be in the set. */
    flags: words.u64(1),
    execution: { stake: words.wei(2), commission: words.commission(4) },
    accumulatedReward: words.word(3),
    unclaimedRewards: words.wei(5),
    consensus: { stake: words.wei(6), commission: words.commission(7) },
    snapshot: { stake: words.wei(8), commission: words.commission(9) },
    /** The compressed public key: 66 hex digits. */
    secpKey: words.bytes(HEAD + 1, SECP_BYTES),
    /** 96 hex digits. */
    blsKey: words.bytes(HEAD + 4, BLS_BYTES),
  }
}

/** All amounts in wei. */
export const parseStakingDelegator = (bytes: string) => {
  const words = createWords('the return value of getDelegator', bytes)
  words.count(7)
  return {
    stake: words.wei(0),
    accumulatedReward: words.word(1),
    unclaimedRewards: words.wei(2),
    deltaStake: words.wei(3),
    nextDeltaStake: words.wei(4),
    deltaEpoch: words.u64(5),
    nextDeltaEpoch: words.u64(6),
  }
}

/** The amount in wei; 0: there is no such request. */
export const parseWithdrawalRequest = (bytes: string) => {
  const words = createWords('the return value of getWithdrawalRequest', bytes)
  words.count(3)
  return { amount: words.wei(0), accumulator: words.word(1), epoch: words.u64(2) }
}

/** The node returns 100 ids per page. */
const MAX_PAGE = 100

/** Members in the order of the node. */
export const parseSetPage = (bytes: string) => {
  const words = createWords('a page of a validator set', bytes)
  words.exactly(3 * 32, 2)
  const length = words.u32(3)
  if (length > MAX_PAGE) words.fail(`at most ${MAX_PAGE} ids`)
  words.count(4 + Number(length))
  const ids = Array.from({ length: Number(length) }, (_, index) => words.u64(4 + index))
  return { isLast: words.flag(0), nextIndex: words.u32(1), ids }
}

/** The address of a compressed secp256k1 key of 66 hex digits. Throws a ParseError if it is not a point of the curve. */
export const addressOfKey = (key: string): string => {
  if (!/^0[23][0-9a-f]{64}$/.test(key)) throw noKey(key)
  try {
    const point = String(ECDH.convertKey(key, 'secp256k1', 'hex', 'hex', 'uncompressed')).slice(2)
    return `0x${Buffer.from(keccak_256(Buffer.from(point, 'hex')))
      .toString('hex')
      .slice(-40)}`
  } catch {
    throw noKey(key)
  }
}

const noKey = (key: string): ParseError => new ParseError('a public key', 'a compressed secp256k1 key', key)

/** The storage slot with the id of the validator that has this key. Internal to the node: prove the id by getValidator. */
export const validatorIdSlot = (key: string): string => `0x06${addressOfKey(key).slice(2)}${'00'.repeat(11)}`

/** The id in such a slot: its left 8 bytes; 0: none. Throws a ParseError. */
export const parseIdSlot = (bytes: string): bigint => {
  const [, id] = /^([0-9a-f]{16})0{48}$/.exec(bytes) ?? []
  if (id === undefined) throw new ParseError('a storage slot with a validator id', '8 bytes and 24 zero bytes', bytes)
  return BigInt(`0x${id}`)
}
