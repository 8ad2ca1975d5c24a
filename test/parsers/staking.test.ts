import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ParseError } from '../../src/core/errors.ts'
import {
  addressOfKey,
  parseIdSlot,
  parseSetPage,
  parseStakingDelegator,
  parseStakingEpoch,
  parseStakingValidator,
  parseWithdrawalRequest,
  proposedBlocksFilter,
  stakingCall,
  validatorIdSlot,
} from '../../src/parsers/staking.ts'
import { pageWords, word } from '../support/staking-words.ts'

/** An answer, word by word. */
const EXAMPLE = [
  '0000000000000000000000001111111111111111111111111111111111111111',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '000000000000000000000000000000000000000000092e8434aaaf80e1800000',
  '000000000000000000000000005ce0e9a53831e3936420d97740000000000000',
  '000000000000000000000000000000000000000000000000016345785d8a0000',
  '0000000000000000000000000000000000000000000000ea3debce5c5ee40000',
  '00000000000000000000000000000000000000000009195731e2ce35eb000000',
  '000000000000000000000000000000000000000000000000016345785d8a0000',
  '00000000000000000000000000000000000000000008af7623fb67bf1a800000',
  '00000000000000000000000000000000000000000000000002c68af0bb140000',
  '0000000000000000000000000000000000000000000000000000000000000180',
  '00000000000000000000000000000000000000000000000000000000000001e0',
  '0000000000000000000000000000000000000000000000000000000000000021',
  '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f817',
  '9800000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000030',
  'abababababababababababababababababababababababababababababababab',
  'abababababababababababababababab00000000000000000000000000000000',
]
const KEY = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'

const u64 = fc.bigInt({ min: 0n, max: 2n ** 63n - 2n })
const u256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const wei = fc.bigInt({ min: 0n, max: 10n ** 30n })

/** With this digit, or without the last one, or with one more. */
const damaged = (text: string, at: number, digit: string): string => text.slice(0, at) + digit + text.slice(at + 1)

test('the filter of the blocks that a validator has proposed', () => {
  const event = Buffer.from('ValidatorRewarded(uint64,address,uint256,uint64)')
  expect(proposedBlocksFilter(7n)).toEqual({
    address: '0x0000000000000000000000000000000000001000',
    topics: [
      `0x${Buffer.from(keccak_256(event)).toString('hex')}`,
      `0x${'0'.repeat(63)}7`,
      `0x${'0'.repeat(24)}6f49a8f621353f12378d0046e7d7e4b9b249dc9e`,
    ],
  })
})

test('each selector is that of its signature', () => {
  const selector = (signature: string): string =>
    `0x${Buffer.from(keccak_256(Buffer.from(signature)))
      .toString('hex')
      .slice(0, 8)}`
  const address = `0x${'11'.repeat(20)}`
  const begins = (data: string): string => data.slice(0, 10)
  expect(stakingCall.epoch()).toBe(selector('getEpoch()'))
  expect(begins(stakingCall.validator(1n))).toBe(selector('getValidator(uint64)'))
  expect(begins(stakingCall.delegator(1n, address))).toBe(selector('getDelegator(uint64,address)'))
  expect(begins(stakingCall.withdrawal(1n, address, 2))).toBe(selector('getWithdrawalRequest(uint64,address,uint8)'))
  expect(begins(stakingCall.set('consensus', 0n))).toBe(selector('getConsensusValidatorSet(uint32)'))
  expect(begins(stakingCall.set('snapshot', 0n))).toBe(selector('getSnapshotValidatorSet(uint32)'))
  expect(begins(stakingCall.set('execution', 0n))).toBe(selector('getExecutionValidatorSet(uint32)'))
})

test('arguments are words', () => {
  expect(stakingCall.validator(160n)).toBe(`0x2b6d639a${'0'.repeat(62)}a0`)
  expect(stakingCall.withdrawal(160n, `0x${'Ab'.repeat(20)}`, 255)).toBe(
    `0x56fa2045${'0'.repeat(62)}a0${'0'.repeat(24)}${'ab'.repeat(20)}${'0'.repeat(62)}ff`,
  )
})

describe('getValidator', () => {
  test('the example', () => {
    expect(parseStakingValidator(EXAMPLE.join(''))).toEqual({
      authAddress: `0x${'11'.repeat(20)}`,
      flags: 0n,
      accumulatedReward: 0x5ce0e9a53831e3936420d97740000000000000n,
      unclaimedRewards: 4321n * 10n ** 18n,
      execution: { stake: 11_100_000n * 10n ** 18n, commission: 10n ** 17n },
      consensus: { stake: 11_000_000n * 10n ** 18n, commission: 10n ** 17n },
      snapshot: { stake: 10_500_000n * 10n ** 18n, commission: 2n * 10n ** 17n },
      secpKey: KEY,
      blsKey: 'ab'.repeat(48),
    })
  })

  test.each([
    ['nothing', ''],
    ['a word less', EXAMPLE.slice(0, -1).join('')],
    ['a word more', `${EXAMPLE.join('')}${word(0)}`],
    ['a byte less', EXAMPLE.join('').slice(0, -2)],
    ['an address of 21 bytes', damaged(EXAMPLE.join(''), 23, '1')],
    ['flags of 65 bits', damaged(EXAMPLE.join(''), 64 + 47, '1')],
    ['another offset of the first key', damaged(EXAMPLE.join(''), 11 * 64 - 2, 'a')],
    ['another offset of the second key', damaged(EXAMPLE.join(''), 12 * 64 - 2, 'c')],
    ['a key of 32 bytes', damaged(EXAMPLE.join(''), 13 * 64 - 1, '0')],
    ['a key of 49 bytes', damaged(EXAMPLE.join(''), 16 * 64 - 1, '1')],
    ['bytes after the first key', damaged(EXAMPLE.join(''), 15 * 64 - 1, '1')],
    ['bytes after the second key', damaged(EXAMPLE.join(''), 18 * 64 - 1, '1')],
  ])('%s is rejected', (_, bytes) => {
    expect(() => parseStakingValidator(bytes)).toThrow(ParseError)
  })
})

test('getEpoch', () => {
  expect(parseStakingEpoch(`${word(1024)}${word(1)}`)).toEqual({ epoch: 1024n, isInDelay: true })
  expect(parseStakingEpoch(`${word(2n ** 64n - 2n)}${word(0)}`)).toEqual({ epoch: 2n ** 64n - 2n, isInDelay: false })
  for (const bytes of [word(1), `${word(2n ** 64n)}${word(0)}`, `${word(1)}${word(2)}`, word(1).repeat(3)])
    expect(() => parseStakingEpoch(bytes)).toThrow(ParseError)
})

test('getDelegator and getWithdrawalRequest', () => {
  fc.assert(
    fc.property(fc.tuple(wei, u256, wei, wei, wei), u64, u64, (amounts, deltaEpoch, nextDeltaEpoch) => {
      const [stake, accumulatedReward, unclaimedRewards, deltaStake, nextDeltaStake] = amounts
      const bytes = [...amounts, deltaEpoch, nextDeltaEpoch].map(word).join('')
      expect(parseStakingDelegator(bytes)).toEqual({
        stake,
        accumulatedReward,
        unclaimedRewards,
        deltaStake,
        nextDeltaStake,
        deltaEpoch,
        nextDeltaEpoch,
      })
      expect(parseWithdrawalRequest([stake, accumulatedReward, deltaEpoch].map(word).join(''))).toEqual({
        amount: stake,
        accumulator: accumulatedReward,
        epoch: deltaEpoch,
      })
    }),
  )
  expect(() => parseStakingDelegator([0, 0, 0, 0, 0, 0, 2n ** 64n].map(word).join(''))).toThrow(ParseError)
  expect(() => parseWithdrawalRequest([0, 0, 2n ** 64n].map(word).join(''))).toThrow(ParseError)
  expect(() => parseWithdrawalRequest([0, 0].map(word).join(''))).toThrow(ParseError)
})

describe('a page of a set', () => {
  test('the example: 150 members on two pages', () => {
    const ids = Array.from({ length: 150 }, (_, index) => BigInt(index + 1))
    expect(parseSetPage(pageWords(false, 100n, ids.slice(0, 100)))).toEqual({
      isLast: false,
      nextIndex: 100n,
      ids: ids.slice(0, 100),
    })
    expect(parseSetPage(pageWords(true, 150n, ids.slice(100)))).toEqual({
      isLast: true,
      nextIndex: 150n,
      ids: ids.slice(100),
    })
    expect(parseSetPage(pageWords(true, 7n, []))).toEqual({ isLast: true, nextIndex: 7n, ids: [] })
  })

  test('ids beyond 2^53 are exact', () => {
    expect(parseSetPage(pageWords(true, 1n, [2n ** 64n - 2n])).ids).toEqual([18_446_744_073_709_551_614n])
  })

  test.each([
    [
      '101 ids',
      pageWords(
        true,
        101n,
        Array.from({ length: 101 }, () => 1n),
      ),
    ],
    ['fewer ids than its length', pageWords(true, 2n, [1n, 2n]).slice(0, -64)],
    ['more ids than its length', `${pageWords(true, 2n, [1n, 2n])}${word(3)}`],
    ['an id of 65 bits', pageWords(true, 1n, [2n ** 64n])],
    ['an index of 33 bits', pageWords(true, 2n ** 32n, [1n])],
    ['another offset', pageWords(true, 1n, [1n]).replace(word(0x60), word(0x80))],
    ['a huge length', [1n, 1n, 0x60n, 2n ** 31n].map(word).join('')],
  ])('%s is rejected', (_, bytes) => {
    expect(() => parseSetPage(bytes)).toThrow(ParseError)
  })
})

describe('the address of a key', () => {
  test('the generator of the curve, and its opposite', () => {
    expect(addressOfKey(KEY)).toBe('0x7e5f4552091a69125d5dfcb7b8c2659029395bdf')
    // The address of the private key n - 1, whose point is the generator with the other y.
    expect(addressOfKey(`03${KEY.slice(2)}`)).toBe('0x80c0dbf239224071c59dd8970ab9d542e3414ab2')
    expect(validatorIdSlot(KEY)).toBe(`0x067e5f4552091a69125d5dfcb7b8c2659029395bdf${'00'.repeat(11)}`)
  })

  test.each([
    ['another prefix', `04${KEY.slice(2)}`],
    ['a digit less', KEY.slice(0, -1)],
    ['an x without a point', `02${'0'.repeat(63)}5`],
    ['an x beyond the field', `02${'f'.repeat(64)}`],
  ])('%s is rejected', (_, key) => {
    expect(() => addressOfKey(key)).toThrow(ParseError)
  })

  test('the id is in the left 8 bytes of its slot', () => {
    expect(parseIdSlot(`00000000000000a0${'0'.repeat(48)}`)).toBe(160n)
    expect(parseIdSlot('0'.repeat(64))).toBe(0n)
    expect(() => parseIdSlot(`00000000000000a0${'0'.repeat(47)}1`)).toThrow(ParseError)
    expect(() => parseIdSlot('a0')).toThrow(ParseError)
  })
})
