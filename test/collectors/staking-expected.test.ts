import { afterEach, beforeEach, expect, test } from 'vitest'
import { staking } from '../../src/collectors/staking/collector.ts'
import type { StakingReading } from '../../src/collectors/staking/reading.ts'
import { createOwnBlock } from '../../src/collectors/shared/node-state.ts'
import { manualClock } from '../support/manual-clock.ts'
import { pollOnce, readingOf } from './run-collector.ts'
import { START, chainState, shown, stakingOptions, stakingPoll, startStakingNode } from './staking-node.ts'

let state: ReturnType<typeof chainState>
let node: Awaited<ReturnType<typeof startStakingNode>>
beforeEach(async () => {
  state = chainState()
  node = await startStakingNode(state)
})
afterEach(() => node.close())

/** The blocks that were requested. */
const blocksSince = (from: number): readonly unknown[] =>
  node.seen.slice(from).flatMap(({ call, params }) => (call === 'eth_getBlockByNumber' ? [params[0]] : []))

const expected = { commission: 0.05, beneficiary: `0x${'2b'.repeat(20)}`, authorityBalance: null }
const beneficiaryIn = async (poll: () => Promise<StakingReading>) => shown(await poll())['beneficiary_matches']

test('without settings nothing is exported or requested', async () => {
  const { poll } = stakingPoll(node.url, { ownBlock: { height: 59_999n } })
  const metrics = shown(await poll())
  expect(metrics).not.toHaveProperty('expected_commission_ratio')
  expect(metrics).not.toHaveProperty('beneficiary_matches')
  expect(blocksSince(0)).not.toContain('0xea5f')
})

test('the commission is exported as configured', async () => {
  const settings = { expected: { ...expected, beneficiary: null } }
  expect(shown(await stakingPoll(node.url, settings).poll())).toMatchObject({
    'commission_ratio execution': 0.1,
    expected_commission_ratio: 0.05,
  })
})

test('the beneficiary is read once for each own block, when the node has it', async () => {
  const ownBlock = createOwnBlock()
  const { poll } = stakingPoll(node.url, { expected, ownBlock })
  expect(await beneficiaryIn(poll)).toBeUndefined()
  // 60,001: the ledger stream is one block ahead of the RPC.
  ownBlock.height = 60_001n
  expect(await beneficiaryIn(poll)).toBeUndefined()
  const from = node.seen.length
  state.height = 60_001n
  expect(await beneficiaryIn(poll)).toBe(1)
  expect(blocksSince(from)).toEqual(['finalized', '0xea61'])
  state.height = 60_002n
  state.beneficiary = `0x${'2C'.repeat(20)}`
  expect(await beneficiaryIn(poll)).toBe(1)
  expect(blocksSince(from)).toEqual(['finalized', '0xea61', 'finalized'])
  ownBlock.height = 60_002n
  state.height = 60_003n
  expect(await beneficiaryIn(poll)).toBe(0)
  expect(blocksSince(from).slice(3)).toEqual(['finalized', '0xea62'])
})

test('the beneficiary is unknown until the next own block if the node does not have this one', async () => {
  const ownBlock = { height: 59_998n }
  const { poll } = stakingPoll(node.url, { expected, ownBlock })
  expect(await beneficiaryIn(poll)).toBe(1)
  node.control.fault = (_, [block]) => (block === '0xea5f' ? { result: null } : undefined)
  ownBlock.height = 59_999n
  state.height = 60_001n
  expect(await beneficiaryIn(poll)).toBeUndefined()
  const from = node.seen.length
  state.height = 60_002n
  expect(await beneficiaryIn(poll)).toBeUndefined()
  expect(blocksSince(from)).toEqual(['finalized'])
  ownBlock.height = 60_000n
  state.height = 60_003n
  expect(await beneficiaryIn(poll)).toBe(1)
})

test('a rejected request costs one poll', async () => {
  const { poll } = stakingPoll(node.url, { expected, ownBlock: { height: 59_999n } })
  node.control.fault = (_, [block]) => (block === '0xea5f' ? 503 : undefined)
  expect(shown(await poll())).toEqual({ up: 0 })
  const metrics = shown(await poll())
  expect(metrics).toMatchObject({ up: 1, active: 1 })
  expect(metrics).not.toHaveProperty('beneficiary_matches')
})

test('the state has the address of an unexpected beneficiary', async () => {
  state.beneficiary = `0x${'2C'.repeat(20)}`
  const clock = manualClock(0)
  const collector = staking({ ...stakingOptions(node.url, clock), expected, ownBlock: { height: 59_999n } })
  expect(collector.states(readingOf(await pollOnce(collector, clock)))).toMatchObject({
    beneficiary: `0x${'2c'.repeat(20)}, not the expected one`,
  })
})

const MINUTE = 60_000
const requests = () => node.seen.filter(({ call }) => call === 'eth_getBalance').length

/** Polls at that time, of a new block. */
const balancesOf = ({ poll, clock }: ReturnType<typeof stakingPoll>) => {
  return async (minutes: number): Promise<number | undefined> => {
    clock.set(START + minutes * MINUTE)
    state.height += 1n
    return shown(await poll())['authority_balance_tokens']
  }
}

test('the balance is read every ten minutes', async () => {
  const balanceAt = balancesOf(stakingPoll(node.url))
  expect(await balanceAt(0)).toBe(0.3)
  state.balance = 10n ** 26n + 1n
  expect(await balanceAt(9)).toBe(0.3)
  expect(requests()).toBe(1)
  expect(await balanceAt(10)).toBe(100_000_000)
  expect(requests()).toBe(2)
})

test.each([503, { result: 'x' }] as const)(
  'after %j it is unknown, and the rest of the poll is read',
  async (fault) => {
    const polls = stakingPoll(node.url)
    const balanceAt = balancesOf(polls)
    node.control.fault = (call) => (call === 'eth_getBalance' ? fault : undefined)
    expect(await balanceAt(0)).toBeUndefined()
    expect(shown(await polls.poll())).toMatchObject({ up: 1, active: 1 })
    node.control.fault = () => undefined
    expect(await balanceAt(4)).toBeUndefined()
    expect(requests()).toBe(1)
    expect(await balanceAt(5)).toBe(0.3)
  },
)

test('the balance is that of the authority: after a change another is read', async () => {
  const balanceAt = balancesOf(stakingPoll(node.url))
  expect(await balanceAt(0)).toBe(0.3)
  state.own = { ...state.own, auth: `0x${'77'.repeat(20)}` }
  state.balance = 5n * 10n ** 17n
  expect(await balanceAt(1)).toBe(0.5)
  state.own = { ...state.own, auth: `0x${'78'.repeat(20)}` }
  node.control.fault = (call) => (call === 'eth_getBalance' ? 503 : undefined)
  expect(await balanceAt(2)).toBeUndefined()
})

test('a balance of zero is a value, and the minimum is that of the configuration', async () => {
  state.balance = 0n
  const settings = { expected: { commission: null, beneficiary: null, authorityBalance: 2.5 } }
  expect(shown(await stakingPoll(node.url, settings).poll())).toMatchObject({
    authority_balance_tokens: 0,
    authority_balance_minimum_tokens: 2.5,
  })
})
