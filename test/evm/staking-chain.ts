import { KEY, WEI } from '../collectors/staking-node.ts'
import { word } from '../support/staking-words.ts'
import { addressOfKey, STAKING_ADDRESS } from '../../src/parsers/staking.ts'
import { type Chain, chainOf } from './chain.ts'
import { compiled } from './contracts.ts'

const AUTH = `0x${'1a'.repeat(20)}`
const BLS = 'cd'.repeat(48)
/** Slots that one HTTP request sets. */
const BATCH = 500

const slotOf = (namespace: number, ...parts: readonly (readonly [value: bigint, shift: number])[]): bigint =>
  parts.reduce((slot, [value, shift]) => slot | (value << BigInt(shift)), BigInt(namespace) << 248n)
const idSlot = (namespace: number, id: bigint): bigint => slotOf(namespace, [id, 184])
const left = (value: bigint): bigint => value << 192n

/** What the test writes into the storage of the contract. */
export interface Stakes {
  epoch: bigint
  isInDelay: boolean
  /** Ids by set; the own validator is 7. */
  sets: { execution: readonly bigint[]; consensus: readonly bigint[]; snapshot: readonly bigint[] }
  stake: bigint
  accumulator: bigint
  commission: bigint
  flags: bigint
  unclaimed: bigint
  consensus: { stake: bigint; commission: bigint }
  snapshot: { stake: bigint; commission: bigint }
  own: { stake: bigint; unclaimed: bigint; delta: bigint; nextDelta: bigint }
}

/** Tokens of another validator. */
export const stakeOf = (id: bigint): bigint => (10_000_000n + id) * WEI

/** The contract at the address of the precompile of a running development chain. */
export const stakingContract = async (url: string) => {
  const chain: Chain = await chainOf(url)
  const set = async (slots: ReadonlyMap<bigint, bigint>): Promise<void> => {
    const all = [...slots]
    for (let from = 0; from < all.length; from += BATCH) {
      const body = all.slice(from, from + BATCH).map(([slot, value], index) => ({
        jsonrpc: '2.0',
        id: index,
        method: 'hardhat_setStorageAt',
        params: [STAKING_ADDRESS, `0x${slot.toString(16)}`, `0x${word(value)}`],
      }))
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      const text = await response.text()
      if (text.includes('"error"')) throw new Error(`hardhat_setStorageAt: ${text.slice(0, 300)}`)
    }
  }
  const setSlots = (namespace: number, ids: readonly bigint[]): readonly (readonly [bigint, bigint])[] => [
    [slotOf(namespace), left(BigInt(ids.length))],
    ...ids.map((id, index) => [slotOf(namespace) + 1n + BigInt(index), left(id)] as const),
  ]
  return {
    chain,
    install: async (): Promise<void> => {
      const contract = (await compiled()).get('Staking')
      if (!contract) throw new Error('there is no contract Staking')
      const { address } = await chain.deploy(contract, [])
      await chain.ask('hardhat_setCode', [STAKING_ADDRESS, await chain.ask('eth_getCode', [address, 'latest'])])
      await chain.ask('evm_mine', [])
    },
    /** Writes the stakes of the other validators, which do not change. */
    register: (ids: readonly bigint[]): Promise<void> =>
      set(
        new Map(
          ids.flatMap((id) => [
            [idSlot(9, id), stakeOf(id)],
            [idSlot(9, id) + 6n, id << 96n],
          ]),
        ),
      ),
    /** Writes the state, and mines blocks up to this height. */
    write: async (stakes: Stakes, height: bigint): Promise<void> => {
      const own = idSlot(9, 7n)
      const keys = `${KEY}${BLS}`.padEnd(192, '0')
      const delegator = slotOf(12, [7n, 184], [BigInt(AUTH), 24])
      await set(
        new Map<bigint, bigint>([
          [1n, left(stakes.epoch)],
          [2n, stakes.isInDelay ? 1n << 255n : 0n],
          ...setSlots(1, stakes.sets.consensus),
          ...setSlots(2, stakes.sets.snapshot),
          ...setSlots(3, stakes.sets.execution),
          [slotOf(6, [BigInt(addressOfKey(KEY)), 88]), left(7n)],
          [own, stakes.stake],
          [own + 1n, stakes.accumulator],
          [own + 2n, stakes.commission],
          ...[0, 1, 2].map(
            (part) => [own + 3n + BigInt(part), BigInt(`0x${keys.slice(64 * part, 64 * part + 64)}`)] as const,
          ),
          [own + 6n, (BigInt(AUTH) << 96n) | (stakes.flags << 32n)],
          [own + 7n, stakes.unclaimed],
          [idSlot(4, 7n), stakes.consensus.stake],
          [idSlot(4, 7n) + 1n, stakes.consensus.commission],
          [idSlot(5, 7n), stakes.snapshot.stake],
          [idSlot(5, 7n) + 1n, stakes.snapshot.commission],
          [delegator, stakes.own.stake],
          [delegator + 2n, stakes.own.unclaimed],
          [delegator + 3n, stakes.own.delta],
          [delegator + 4n, stakes.own.nextDelta],
        ]),
      )
      const blocks = height - BigInt(await chain.height())
      await chain.ask('hardhat_mine', [`0x${blocks.toString(16)}`])
    },
  }
}
