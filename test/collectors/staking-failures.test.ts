import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ParseError, SourceError } from '../../src/core/errors.ts'
import { pageWords, word } from '../support/staking-words.ts'
import { START, chainState, shown, stakingPoll, startStakingNode } from './staking-node.ts'

let state: ReturnType<typeof chainState>
let node: Awaited<ReturnType<typeof startStakingNode>>
beforeEach(async () => {
  state = chainState()
  node = await startStakingNode(state)
})
afterEach(() => node.close())

const calls = (): readonly string[] => node.seen.map(({ call }) => call)

describe('a node that does not answer', () => {
  const busy = 'failure to submit eth_call to thread pool: queue size exceeded'
  test.each([
    ['a reverted call, code 3', { error: { code: 3, message: 'execution reverted: method not supported' } }],
    ['the same before, code -32603', { error: { code: -32_603, message: 'execution reverted' } }],
    ['busy', { error: { code: -32_603, message: busy } }],
    ['a block that it does not have', { error: { code: -32_602, message: 'Block requested not found.' } }],
    ['HTTP 503', 503],
    ['no answer until the deadline', 'hang'],
  ] as const)('%s: a reading without values, and then with them', async (_, fault) => {
    const { poll } = stakingPoll(node.url)
    const deadline = new AbortController()
    node.control.fault = (call) => {
      if (call !== 'getValidator') return undefined
      if (fault === 'hang') setImmediate(() => deadline.abort())
      return fault
    }
    const reading = await poll(deadline.signal)
    expect(shown(reading)).toEqual({ up: 0 })
    expect(reading.reason).toMatch(typeof fault === 'object' ? fault.error.message : /HTTP status 503|in time/)
    // It ends with the call that failed.
    expect(calls().at(-1)).toBe('getValidator')
    node.control.fault = () => undefined
    expect(shown(await poll())).toMatchObject({ up: 1, active: 1 })
  })

  test('values are kept for two intervals', async () => {
    const { poll, clock } = stakingPoll(node.url)
    await poll()
    node.control.fault = () => 503
    clock.set(START + 120_000)
    expect(shown(await poll())).toMatchObject({ up: 0, active: 1 })
    clock.set(START + 120_001)
    expect(shown(await poll())).toEqual({ up: 0 })
  })

  test('a set that never ends is given up; the sets are read again after five minutes', async () => {
    const { poll, clock } = stakingPoll(node.url)
    node.control.fault = (call, params) =>
      call === 'consensus' ? { result: `0x${pageWords(false, startOf(params) + 1n, [1n])}` } : undefined
    expect(shown(await poll())).toMatchObject({ up: 1, active: 1 })
    expect(calls().filter((call) => call === 'consensus')).toHaveLength(50)
    node.control.fault = () => undefined
    state.height += 1n
    clock.set(START + 299_999)
    expect(shown(await poll())).not.toHaveProperty('rank')
    state.height += 1n
    clock.set(START + 300_000)
    expect(shown(await poll())).toMatchObject({ rank: 2, threshold_tokens: 10_000_000 })
  })

  test('a page that leads back is the last one', async () => {
    node.control.fault = (call) => (call === 'consensus' ? { result: `0x${pageWords(false, 0n, [1n])}` } : undefined)
    await stakingPoll(node.url).poll()
    expect(calls().filter((call) => call === 'consensus')).toHaveLength(1)
  })
})

describe('an invalid answer is an error of the collector', () => {
  test.each([
    ['getEpoch', word(1)],
    ['getValidator', word(1).repeat(18)],
    ['getDelegator', word(1).repeat(8)],
    ['consensus', pageWords(true, 1n, [2n ** 64n])],
  ])('%s', async (broken, bytes) => {
    node.control.fault = (call) => (call === broken ? { result: `0x${bytes}` } : undefined)
    await expect(stakingPoll(node.url).poll()).rejects.toThrow(ParseError)
  })
})

test('a chain without the precompile: the reason, and nothing else is asked', async () => {
  node.control.fault = (call) => (call === 'getEpoch' ? { result: '0x' } : undefined)
  const { poll } = stakingPoll(node.url)
  await expect(poll()).rejects.toThrow(SourceError)
  await expect(poll()).rejects.toThrow(/this chain has none at 0x0*1000\n.*staking\.enabled/)
  expect(calls()).toEqual(['eth_getBlockByNumber', 'getEpoch', 'eth_getBlockByNumber', 'getEpoch'])
})

const startOf = (params: readonly unknown[]): bigint => {
  const [call] = params
  return typeof call === 'object' && call !== null && 'data' in call ? BigInt(`0x${String(call.data).slice(10)}`) : 0n
}
