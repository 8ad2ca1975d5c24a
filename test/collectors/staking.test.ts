import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { staking } from '../../src/collectors/staking/collector.ts'
import type { StakingReading } from '../../src/collectors/staking/reading.ts'
import { createOwnBlock, createOwnKey } from '../../src/collectors/shared/node-state.ts'
import { ParseError, SourceError } from '../../src/core/errors.ts'
import { manualClock } from '../support/manual-clock.ts'
import { pageWords, word } from '../support/staking-words.ts'
import { memoryCheckpoint, recording } from './recording.ts'
import { pollOnce, readingOf } from './run-collector.ts'
import { chainState, KEY, shown, stakingOptions, stakingPoll, START, startStakingNode, WEI } from './staking-node.ts'

let state: ReturnType<typeof chainState>
let node: Awaited<ReturnType<typeof startStakingNode>>
beforeEach(async () => {
  state = chainState()
  node = await startStakingNode(state)
})
afterEach(() => node.close())

/** Since the last look. */
const callsSince = (from: number): readonly string[] => node.seen.slice(from).map(({ call }) => call)

const pollCollector = async (options: Partial<Parameters<typeof staking>[0]>) => {
  const { recorder, total } = recording()
  const clock = manualClock(0)
  const collector = staking({ ...stakingOptions(node.url, clock), recorder, ...options })
  return { states: collector.states(readingOf(await pollOnce(collector, clock))), total }
}

const EPOCH = {
  block_timestamp_seconds: 1_700_024_000,
  epoch: 2,
  in_epoch_delay: 0,
  // Block 60,000 is the 10,001st after the boundary block 49,999, of 50,000.
  epoch_progress_ratio: 0.20002,
  boundary_block: 99_999,
  // 39,999 blocks of 0.4 s, and 5,000 more.
  boundary_timestamp_seconds: 1_700_039_999.6,
  next_epoch_timestamp_seconds: 1_700_041_999.6,
}

describe('a poll', () => {
  test('exports what the precompile holds', async () => {
    const { poll } = stakingPoll(node.url)
    const metrics = shown(await poll())
    expect(metrics).toEqual({
      up: 1,
      registered: 1,
      'info 7': 1,
      ...EPOCH,
      active: 1,
      'flag stake_low': 0,
      'flag withdrawn': 0,
      'flag double_sign': 0,
      'stake_tokens execution': 11_000_000,
      'stake_tokens consensus': 10_500_000,
      'stake_tokens snapshot': 10_200_000,
      'commission_ratio execution': 0.1,
      'commission_ratio consensus': 0.05,
      'commission_ratio snapshot': 0.02,
      authority_balance_tokens: 0.3,
      self_stake_tokens: 111_000,
      self_stake_minimum_tokens: 100_000,
      threshold_tokens: 10_000_000,
      margin_ratio: 0.1,
      rank: 2,
      'set_members execution': 3,
      'set_members consensus': 2,
      'set_members snapshot': 1,
      pending_tokens: 500_000,
      self_pending_tokens: 21_000,
      unclaimed_reward_tokens: 40,
      self_unclaimed_reward_tokens: 3,
    })
  })

  test('asks four times, one after the other; at the start also for what is kept', async () => {
    const { poll } = stakingPoll(node.url)
    await poll()
    const chain = ['eth_getBlockByNumber', 'getEpoch', 'eth_chainId', 'eth_getBlockByNumber']
    const validator = ['eth_getStorageAt', 'getValidator', 'getDelegator']
    const sets = ['consensus', 'snapshot', 'execution']
    expect(callsSince(0)).toEqual([...chain, ...validator, ...sets, 'eth_getBalance'])
    const from = node.seen.length
    state.height += 150n
    await poll()
    expect(callsSince(from)).toEqual(['eth_getBlockByNumber', 'getEpoch', 'getValidator', 'getDelegator'])
  })

  test('asks only for the height while no block is finalized', async () => {
    const { poll } = stakingPoll(node.url)
    const first = await poll()
    const from = node.seen.length
    expect(await poll()).toEqual(first)
    expect(callsSince(from)).toEqual(['eth_getBlockByNumber'])
  })

  test('reads the sets again when the delay begins, and the execution set after ten minutes', async () => {
    const { poll, clock } = stakingPoll(node.url)
    await poll()
    state.height += 1500n
    clock.set(clock.now() + 600_000)
    let from = node.seen.length
    await poll()
    expect(callsSince(from)).toContain('execution')
    expect(callsSince(from)).not.toContain('consensus')
    state.height = 99_999n
    state.isInDelay = true
    from = node.seen.length
    await poll()
    expect(callsSince(from).slice(4)).toEqual(['consensus', 'snapshot', 'execution'])
  })

  test('an unknown flag is logged and counted', async () => {
    state.own.flags = 0b101001n
    const { states, total } = await pollCollector({})
    expect(states).toMatchObject({
      'validator flags': 'stake_low, unknown',
      'unknown value, flags of the validator': '0x29 (expected 0, stake_low, withdrawn, double_sign)',
    })
    expect(total('chain_agent_lines_total{format=staking,result=unparsed}')).toBe(1)
  })

  test('a set larger than the limit raises it', async () => {
    const ids = Array.from({ length: 210 }, (_, index) => BigInt(index + 100))
    state.sets = { execution: ids, consensus: ids, snapshot: ids }
    expect(shown(await stakingPoll(node.url).poll())).toMatchObject({ threshold_tokens: 10_000_000 })
  })

  test('withdrawal requests that are configured and exist', async () => {
    state.withdrawals.set(3, [(25n * WEI) / 10n, 0n, 1n]).set(4, [WEI, 0n, 2n])
    const metrics = shown(await stakingPoll(node.url, { withdrawals: [3, 4, 5] }).poll())
    expect(metrics).toMatchObject({
      'withdrawal_tokens 3': 2.5,
      'withdrawal_ready 3': 1,
      'withdrawal_tokens 4': 1,
      'withdrawal_ready 4': 0,
    })
    expect(metrics).not.toHaveProperty('withdrawal_tokens 5')
  })
})

test('without the length of an epoch there is no progress and no estimate', async () => {
  state.chainId = 31_337n
  const metrics = shown(await stakingPoll(node.url).poll())
  expect(metrics).toMatchObject({ epoch: 2, active: 1, threshold_tokens: 10_000_000 })
  for (const name of ['epoch_progress_ratio', 'boundary_block', 'next_epoch_timestamp_seconds'])
    expect(metrics).not.toHaveProperty(name)
})

describe('rewards', () => {
  test('grow with the accumulator, since the last poll of the agent before it was restarted', async () => {
    const checkpoint = memoryCheckpoint()
    const before = stakingPoll(node.url, { checkpoint })
    await before.poll()
    expect(before.total('chain_staking_reward_tokens_total{share=pool}')).toBe(0)
    state.height += 100n
    // A millionth of a token per token; 10,500,000 tokens are in force, with 5 percent.
    state.own.accumulator += 10n ** 30n
    const from = node.seen.length
    const { poll, total } = stakingPoll(node.url, { checkpoint })
    await poll()
    expect(total('chain_staking_reward_tokens_total{share=pool}')).toBe(10.5)
    expect(total('chain_staking_reward_tokens_total{share=commission}')).toBeCloseTo((10.5 * 5) / 95, 12)
    // Also by epoch: blocks 60,000 and 60,100, of 0.4 s; 10.5 * 5 / 95 tokens of commission, rounded down to a wei.
    expect((await poll()).rewards).toEqual([
      {
        epoch: 2n,
        pool: 10_500_000_000_000_000_000n,
        commission: 552_631_578_947_368_421n,
        fromAt: 1_700_024_000_000,
        toAt: 1_700_024_040_000,
      },
    ])
    // The id is remembered.
    expect(callsSince(from)).not.toContain('eth_getStorageAt')
  })
})

describe('the validator of the key', () => {
  test('a key that is not registered', async () => {
    state.id = 0n
    expect(shown(await stakingPoll(node.url).poll())).toEqual({ up: 1, registered: 0, ...EPOCH })
  })

  test('a stored id is proved: another key is not believed', async () => {
    state.own.secp = `02${'11'.repeat(32)}`
    await expect(stakingPoll(node.url).poll()).rejects.toThrow('set staking.validatorId')
  })

  test('a configured id is proved, too', async () => {
    expect(shown(await stakingPoll(node.url, { validatorId: 7 }).poll())).toHaveProperty('info 7')
    expect(callsSince(0)).not.toContain('eth_getStorageAt')
    await expect(stakingPoll(node.url, { validatorId: 8 }).poll()).rejects.toThrow('has another public key')
  })

  test('a remembered id of another key is not used', async () => {
    const checkpoint = memoryCheckpoint()
    await checkpoint.save({ key: `02${'11'.repeat(32)}`, id: '9', baseline: null })
    expect(shown(await stakingPoll(node.url, { checkpoint }).poll())).toHaveProperty('info 7')
  })

  test('nothing is requested until the key is known; then at once', async () => {
    const clock = manualClock(0)
    const ownKey = createOwnKey(null)
    const collector = staking({ ...stakingOptions(node.url, clock), ownKey })
    const stop = new AbortController()
    let reported: (reading: StakingReading) => void = () => undefined
    const readings: StakingReading[] = []
    const running = collector.run({ clock, signal: stop.signal }, (outcome) => {
      readings.push(readingOf(outcome))
      reported(readingOf(outcome))
    })
    await clock.advance(0)
    await clock.advance(1000)
    expect(readings).toHaveLength(2)
    expect(node.seen).toEqual([])
    expect(readings.flatMap((reading) => collector.samples(reading))).toEqual([])
    ownKey.set(`0x${KEY}`)
    const next = new Promise<StakingReading>((resolve) => {
      reported = resolve
    })
    await clock.advance(1000)
    expect(await next).toMatchObject({ isRegistered: true })
    stop.abort()
    await running
  })
})

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
    expect(callsSince(0).at(-1)).toBe('getValidator')
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
    expect(callsSince(0).filter((call) => call === 'consensus')).toHaveLength(50)
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
    expect(callsSince(0).filter((call) => call === 'consensus')).toHaveLength(1)
  })
})

test.each([
  ['getEpoch', word(1)],
  ['getValidator', word(1).repeat(18)],
  ['getDelegator', word(1).repeat(8)],
  ['consensus', pageWords(true, 1n, [2n ** 64n])],
])('an invalid answer is an error of the collector: %s', async (broken, bytes) => {
  node.control.fault = (call) => (call === broken ? { result: `0x${bytes}` } : undefined)
  await expect(stakingPoll(node.url).poll()).rejects.toThrow(ParseError)
})

test('a chain without the precompile: the reason, and nothing else is asked', async () => {
  node.control.fault = (call) => (call === 'getEpoch' ? { result: '0x' } : undefined)
  const { poll } = stakingPoll(node.url)
  await expect(poll()).rejects.toThrow(SourceError)
  await expect(poll()).rejects.toThrow(/this chain has none at 0x0*1000\n.*staking\.enabled/)
  expect(callsSince(0)).toEqual(['eth_getBlockByNumber', 'getEpoch', 'eth_getBlockByNumber', 'getEpoch'])
})

const startOf = (params: readonly unknown[]): bigint => {
  const [call] = params
  return typeof call === 'object' && call !== null && 'data' in call ? BigInt(`0x${String(call.data).slice(10)}`) : 0n
}

/** The blocks that were requested. */
const blocksSince = (from: number): readonly unknown[] =>
  node.seen.slice(from).flatMap(({ call, params }) => (call === 'eth_getBlockByNumber' ? [params[0]] : []))

const expected = { beneficiary: `0x${'2b'.repeat(20)}`, authorityBalance: null }
const beneficiaryIn = async (poll: () => Promise<StakingReading>) => shown(await poll())['beneficiary_matches']

test('without settings nothing is exported or requested', async () => {
  const { poll } = stakingPoll(node.url, { ownBlock: { height: 59_999n } })
  const metrics = shown(await poll())
  expect(metrics).not.toHaveProperty('beneficiary_matches')
  expect(blocksSince(0)).not.toContain('0xea5f')
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
  const { states } = await pollCollector({ expected, ownBlock: { height: 59_999n } })
  expect(states).toMatchObject({ beneficiary: `0x${'2c'.repeat(20)}, not the expected one` })
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
  const settings = { expected: { beneficiary: null, authorityBalance: 2.5 } }
  expect(shown(await stakingPoll(node.url, settings).poll())).toMatchObject({
    authority_balance_tokens: 0,
    authority_balance_minimum_tokens: 2.5,
  })
})
