import { type Chain, digest, EPOCH, type Validator } from '../chain.ts'
import { type Argument, directiveTable, percent, set, setIn, settingOf, taking } from '../scenario/directives.ts'
import type { NodeSubject } from '../subject.ts'
import { validatorIdSlot, WEI } from '../../src/parsers/staking.ts'
import { widen } from '../../src/core/widen.ts'

/** What the staking precompile reports about the validator of the node. */
export const usualStaking = {
  /** The stake of all of its delegators, in tokens. */
  tokens: 11_100_000n,
  /** The native balance of its authority, in tokens. */
  balance: 25n,
  /** In percent. */
  commission: 10,
  /** The withdrawal request of its authority. */
  withdrawal: widen<Readonly<{ tokens: bigint; requestedMs: number }> | undefined>(undefined),
}

const tokens: Argument<bigint> = {
  expected: 'a number of tokens, such as 9500000',
  read: (text) => (/^\d{1,9}$/.test(text) ? BigInt(text) : undefined),
}

/** Directives for the staking precompile. */
export const stakingDirectives = directiveTable({
  'delegations are': [
    'the stake of all delegators of the validator; it counts from the next boundary block on',
    settingOf('staking', 'tokens', tokens),
  ],
  'authority undelegates': [
    'the authority of the validator requests to withdraw from its stake: withdrawal request 0',
    taking(tokens, (amount) =>
      setIn('staking')(({ tokens: before }, requestedMs) => ({
        tokens: before - amount,
        withdrawal: { tokens: amount, requestedMs },
      })),
    ),
  ],
  'authority holds': ['the native balance of the authority of the validator', settingOf('staking', 'balance', tokens)],
  'commission is': ['the commission of the validator, in percent', settingOf('staking', 'commission', percent)],
  'epoch ends': [
    'the boundary block of an epoch is proposed: the chain is shifted to that time',
    (condition, atMs) => set({ epochEndsMs: atMs })(condition, atMs),
  ],
})

const MINIMUM = 10_000_000n
const MINIMUM_SELF = 100_000n
const SELF = 150_000n
/** For the pool of the validator, in wei per block: its share of the leaders, of a reward of 18, after the commission. */
const POOL_PER_BLOCK = 777_600_000_000_000_000n
const SET_LIMIT = 200

const word = (value: bigint | number): string => value.toString(16).padStart(64, '0')
const padded = (bytes: string): string => bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')

/** The words of a view: stake in wei and commission. */
interface View {
  readonly stake: bigint
  readonly commission: bigint
}

interface Member extends Readonly<Record<'execution' | 'consensus' | 'snapshot', View>> {
  readonly id: bigint
  readonly validator: Validator
  readonly auth: string
  readonly flags: bigint
}

/** Returns the hex digits of a return value, or the message of a revert. */
type Result = { readonly bytes: string } | { readonly revert: string }

export type Precompile = ReturnType<typeof createPrecompile>

/** The staking precompile at a block: a function of the block and of the scenario of the node. */
export const createPrecompile = ({ chain, timeline, own }: Pick<NodeSubject, 'chain' | 'timeline' | 'own'>) => {
  const conditionAt = (block: bigint) => timeline.conditionAt(chain.block(block)?.timeMs ?? -Infinity)

  const selfStakeAt = (block: bigint): bigint => SELF - (conditionAt(block).staking.withdrawal?.tokens ?? 0n)

  const ownMember = (id: bigint, block: bigint): Member => {
    const boundary = EPOCH.lastBoundary(block)
    const view = (at: bigint): View => {
      const { staking } = conditionAt(at)
      return { stake: staking.tokens * WEI, commission: (BigInt(staking.commission) * WEI) / 100n }
    }
    // `stake is 0` takes the validator out of the set at once.
    const isOut = conditionAt(block).native.stakeBps === 0
    const frozen = (at: bigint): View => {
      const frozenView = view(at)
      return isOut || frozenView.stake < MINIMUM * WEI ? { stake: 0n, commission: 0n } : frozenView
    }
    const execution = view(block)
    return {
      ...identity(chain, own, id),
      flags: execution.stake < MINIMUM * WEI || selfStakeAt(block) < MINIMUM_SELF ? 1n : 0n,
      execution,
      consensus: frozen(boundary),
      snapshot: frozen(boundary - EPOCH.blocks),
    }
  }

  const members = (block: bigint): readonly Member[] =>
    chain.validators.map((validator, index) => {
      const id = BigInt(index + 1)
      if (validator === own) return ownMember(id, block)
      const view = { stake: (11_000_000n + 65_000n * BigInt(index)) * WEI, commission: WEI / 20n }
      return { ...identity(chain, validator, id), flags: 0n, execution: view, consensus: view, snapshot: view }
    })

  const page = (view: 'execution' | 'consensus' | 'snapshot', block: bigint, start: bigint): string => {
    const ids = members(block)
      .filter((member) => member[view].stake > 0n)
      .toSorted((a, b) =>
        a[view].stake === b[view].stake ? Number(a.id - b.id) : a[view].stake > b[view].stake ? -1 : 1,
      )
      .slice(0, view === 'execution' ? undefined : SET_LIMIT)
      .map(({ id }) => id)
    const found = ids.slice(Number(start), Number(start) + 100)
    const next = start + BigInt(found.length)
    return [next >= BigInt(ids.length) ? 1n : 0n, next, 96n, BigInt(found.length), ...found].map(word).join('')
  }

  const isInDelay = (block: bigint): boolean => {
    const found = chain.block(block)
    return found !== undefined && EPOCH.isInDelay(found)
  }

  /** The ids by the slot of their keys, whose addresses take time: computed when the first one is read. */
  let slots: ReadonlyMap<string, number> | undefined

  const poolOf = (block: bigint): bigint => block * POOL_PER_BLOCK

  const functions: Readonly<Record<string, (args: readonly bigint[], block: bigint) => string>> = {
    '757991a8': (_, block) => `${word(chain.block(block)?.epoch ?? 0n)}${word(isInDelay(block) ? 1 : 0)}`,
    '2b6d639a': ([id = 0n], block) => {
      const member = members(block).find((one) => one.id === id)
      return renderValidator(member, poolOf(block))
    },
    '573c1ce0': ([id = 0n, address = 0n], block) => {
      const member = members(block).find((one) => one.id === id)
      const isAuth = member !== undefined && BigInt(member.auth) === address
      const claimable = (poolOf(block) / 9n) % (5000n * WEI)
      return (
        isAuth
          ? [selfStakeAt(block) * WEI, accumulatorOf(poolOf(block)), claimable, 0n, 0n, 0n, 0n]
          : [0n, 0n, 0n, 0n, 0n, 0n, 0n]
      )
        .map(word)
        .join('')
    },
    '56fa2045': ([id = 0n, address = 0n, request = 0n], block) => {
      const { withdrawal } = conditionAt(block).staking
      const member = members(block).find((one) => one.id === id)
      const isKnown = member?.validator === own && BigInt(member.auth) === address && request === 0n
      if (!withdrawal || !isKnown) return word(0n).repeat(3)
      // The stake ends with the epoch, or in the delay with the next one.
      const at = chain.headAt(withdrawal.requestedMs)
      const epoch = at.epoch + (EPOCH.isInDelay(at) ? 2n : 1n)
      return [withdrawal.tokens * WEI, accumulatorOf(poolOf(at.seqNum)), epoch].map(word).join('')
    },
    fb29b729: ([start = 0n], block) => page('consensus', block, start),
    de66a368: ([start = 0n], block) => page('snapshot', block, start),
    '7cb074df': ([start = 0n], block) => page('execution', block, start),
  }

  return {
    call: (data: string, block: bigint): Result => {
      const answer = functions[data.slice(2, 10)]
      if (!answer) return { revert: 'method not supported' }
      const args = (data.slice(10).match(/.{64}/g) ?? []).map((text) => BigInt(`0x${text}`))
      return { bytes: answer(args, block) }
    },
    /** The native balance of an address in wei; only the authority of the node has one. */
    balanceOf: (address: string, block: bigint): bigint => {
      const member = members(block).find(({ validator }) => validator === own)
      return member?.auth === address ? conditionAt(block).staking.balance * WEI : 0n
    },
    /** The hex digits of a storage slot. */
    storageAt: (slot: string): string => {
      slots ??= new Map(chain.validators.map(({ publicKey }, index) => [validatorIdSlot(publicKey), index + 1]))
      return word(slots.get(slot) ?? 0)
        .slice(-16)
        .padEnd(64, '0')
    },
  }
}

const identity = (chain: Chain, validator: Validator, id: bigint) => ({
  id,
  validator,
  auth: `0x${digest(chain.seed, 'authority', id).slice(0, 40)}`,
})

const accumulatorOf = (pool: bigint): bigint => (pool * 10n ** 36n) / (usualStaking.tokens * WEI)

const renderValidator = (member: Member | undefined, pool: bigint): string => {
  const none = { stake: 0n, commission: 0n }
  const { execution, consensus, snapshot } = member ?? { execution: none, consensus: none, snapshot: none }
  const secp = member?.validator.publicKey ?? '0'.repeat(66)
  const bls = member ? digest('bls', member.id).repeat(2).slice(0, 96) : '0'.repeat(96)
  return [
    word(BigInt(member?.auth ?? 0)),
    word(member?.flags ?? 0n),
    word(execution.stake),
    word(member ? accumulatorOf(pool) : 0n),
    word(execution.commission),
    word(member ? pool % (50_000n * WEI) : 0n),
    ...[consensus, snapshot].flatMap(({ stake, commission }) => [word(stake), word(commission)]),
    word(12 * 32),
    word(15 * 32),
    word(33),
    padded(secp),
    word(48),
    padded(bls),
  ].join('')
}
