import { afterEach, beforeEach, expect, test } from 'vitest'
import { START, chainState, shown, stakingPoll, startStakingNode } from './staking-node.ts'

let state: ReturnType<typeof chainState>
let node: Awaited<ReturnType<typeof startStakingNode>>
beforeEach(async () => {
  state = chainState()
  node = await startStakingNode(state)
})
afterEach(() => node.close())

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

test('it is unknown after a failed request, which the rest of the poll survives', async () => {
  const polls = stakingPoll(node.url)
  const balanceAt = balancesOf(polls)
  node.control.fault = (call) => (call === 'eth_getBalance' ? 503 : undefined)
  expect(await balanceAt(0)).toBeUndefined()
  expect(shown(await polls.poll())).toMatchObject({ up: 1, active: 1 })
  node.control.fault = () => undefined
  expect(await balanceAt(4)).toBeUndefined()
  expect(requests()).toBe(1)
  expect(await balanceAt(5)).toBe(0.3)
})

test('an invalid balance is unknown, and the rest of the poll is read', async () => {
  const polls = stakingPoll(node.url)
  node.control.fault = (call) => (call === 'eth_getBalance' ? { result: 'x' } : undefined)
  expect(await balancesOf(polls)(0)).toBeUndefined()
  expect(shown(await polls.poll())).toMatchObject({ up: 1, active: 1 })
})

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
  const expected = { commission: null, beneficiary: null, authorityBalance: 2.5 }
  expect(shown(await stakingPoll(node.url, { expected }).poll())).toMatchObject({
    authority_balance_tokens: 0,
    authority_balance_minimum_tokens: 2.5,
  })
})
