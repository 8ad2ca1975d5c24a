import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { type LogField } from '../log-fields.ts'
import type { Profile, Standard } from './types.ts'

const SIGNATURES = {
  Transfer: 'Transfer(address,address,uint256)',
  /** ERC-2309: a range of ids in one event. */
  ConsecutiveTransfer: 'ConsecutiveTransfer(uint256,uint256,address,address)',
  TransferSingle: 'TransferSingle(address,address,address,uint256,uint256)',
  TransferBatch: 'TransferBatch(address,address,address,uint256[],uint256[])',
  Deposit: 'Deposit(address,uint256)',
  Withdrawal: 'Withdrawal(address,uint256)',
  Assign: 'Assign(address,uint256)',
  PunkTransfer: 'PunkTransfer(address,address,uint256)',
  PunkBought: 'PunkBought(uint256,uint256,address,address)',
} as const

export type EventName = keyof typeof SIGNATURES

/** The topic0 of an event: the hash of its signature. */
export const topicOf = (signature: string): string => `0x${bytesToHex(keccak_256(utf8ToBytes(signature)))}`

const EVENTS: Readonly<Record<Standard, readonly EventName[]>> = {
  erc20: ['Transfer'],
  erc721: ['Transfer', 'ConsecutiveTransfer'],
  erc1155: ['TransferSingle', 'TransferBatch'],
}

const PROFILES: Readonly<Record<Profile, { readonly standard: Standard; readonly events: readonly EventName[] }>> = {
  weth: { standard: 'erc20', events: ['Transfer', 'Deposit', 'Withdrawal'] },
  // Transfer has a count of punks; for an accepted bid it is the only event with the buyer.
  punks: { standard: 'erc721', events: ['Transfer', 'Assign', 'PunkTransfer', 'PunkBought'] },
}

/** The standard of a profile. */
export const standardOf = (profile: Profile): Standard => PROFILES[profile].standard

/** The events that transfer tokens, each with its topic0. */
export const eventsOf = (
  standard: Standard,
  profile: Profile | null = null,
): readonly (readonly [topic: string, event: EventName])[] => {
  const events = profile === null ? EVENTS[standard] : PROFILES[profile].events
  return events.map((event) => [topicOf(SIGNATURES[event]), event])
}

/** The topic0 alternatives of a query for a ledger. */
export const topicsOf = (standard: Standard, profile: Profile | null = null): readonly string[] =>
  eventsOf(standard, profile).map(([topic]) => topic)

/** The fields that a ledger needs. topic3 distinguishes ERC-20 from ERC-721; address and topic0 reveal logs that
 * were not requested, and removed those of a reorg. */
export const LEDGER_FIELDS: readonly LogField[] = [
  'block_number',
  'log_index',
  'address',
  'topic0',
  'topic1',
  'topic2',
  'topic3',
  'data',
  'removed',
]

/** EIP-55: the case of each letter encodes a bit of the hash of the lower-case address. */
export const toChecksumAddress = (address: string): string => {
  const digits = address.slice(2).toLowerCase()
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)))
  const cased = Array.from(digits, (digit, index) => ((hash[index] ?? '0') >= '8' ? digit.toUpperCase() : digit))
  return `0x${cased.join('')}`
}

/** An amount of the smallest unit as an exact decimal of the token's unit, without exponent and trailing zeros. */
export const formatUnits = (amount: bigint, decimals: number): string => {
  const sign = amount < 0n ? '-' : ''
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction === '' ? `${sign}${whole}` : `${sign}${whole}.${fraction}`
}
