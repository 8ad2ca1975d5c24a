import { afterAll, beforeAll, expect, it } from 'vitest'
import { readStakingNetworks } from '../../src/config/staking.ts'
import { systemClock } from '../../src/core/clock.ts'
import { STAKING_ADDRESS } from '../../src/parsers/staking.ts'
import { createRpcEndpoint, type RpcEndpoint } from '../../src/sources/endpoints.ts'
import { createHttpClient } from '../../src/sources/http.ts'
import { stakingPoll, WEI } from '../collectors/staking-node.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { type EvmNode, probeHardhat, startHardhat } from './hardhat.ts'
import { type Stakes, stakeOf, stakingContract } from './staking-chain.ts'

const describe = await requireRealPart('evm', probeHardhat)

/** An epoch of 1,000 blocks with a delay of 100 rounds. */
const LENGTH = 1000n
const DELAY = 100n

const first = (count: number): readonly bigint[] =>
  [7n, ...Array.from({ length: count - 1 }, (_, index) => BigInt(index + 100))].slice(0, count)

/** The collector's polls of that node, and what each of them requests. */
const collectorOf = (url: string) => {
  const over = createRpcEndpoint(createHttpClient(systemClock), url, 60_000)
  const used = { calls: 0, bytes: 0 }
  const rpc: RpcEndpoint = {
    call: async (method, params, signal) => {
      const response = await over.call(method, params, signal)
      used.calls += 1
      used.bytes += JSON.stringify(params).length + response.text.length
      return response
    },
  }
  const { poll, ...record } = stakingPoll(url, {
    rpcAt: () => rpc,
    stakingNetworks: (chainId) => ({ ...readStakingNetworks()(chainId), epochBlocks: LENGTH, delayRounds: DELAY }),
  })
  return {
    ...record,
    poll: async () => {
      Object.assign(used, { calls: 0, bytes: 0 })
      const reading = await poll()
      return { reading, ...used }
    },
  }
}

describe('the staking precompile on a real EVM', () => {
  let node: EvmNode
  beforeAll(async () => {
    node = await startHardhat()
  })
  afterAll(() => node.stop())

  it('is missing on a chain without it', async () => {
    await expect(collectorOf(node.url).poll()).rejects.toThrow('this chain has none')
  })

  it('rejects what it does not have, as the node does', async () => {
    const { install } = await stakingContract(node.url)
    await install()
    const over = createRpcEndpoint(createHttpClient(systemClock), node.url, 60_000)
    const call = { to: STAKING_ADDRESS, data: '0x12345678', gas: '0xf4240' }
    const { text } = await over.call('eth_call', [call, 'latest'], new AbortController().signal)
    expect(text).toContain('"error"')
    // Its words are in the data of the error.
    expect(text).toContain(Buffer.from('method not supported').toString('hex'))
  })

  it.each([1, 200, 2000])(
    'every value is that of the contract over three epochs, with %d validators',
    async (count) => {
      const contract = await stakingContract(node.url)
      const { poll, total } = collectorOf(node.url)
      const execution = first(count)
      await contract.register(execution.filter((id) => id !== 7n))
      const start = (BigInt(await contract.chain.height()) / LENGTH + 1n) * LENGTH
      const consensus = first(Math.min(count, 200))
      const stakes: Stakes = {
        epoch: start / LENGTH + 1n,
        isInDelay: false,
        sets: { execution, consensus, snapshot: consensus.slice(0, -1) },
        stake: 12_000_000n * WEI,
        accumulator: 5n * 10n ** 36n,
        commission: WEI / 10n,
        flags: 0n,
        unclaimed: 123_456_789_012_345_678_901n,
        consensus: { stake: 11_500_000n * WEI + 1n, commission: WEI / 20n },
        snapshot: { stake: 11_000_000n * WEI, commission: WEI / 50n },
        own: { stake: 150_000n * WEI, unclaimed: 77n, delta: 5n, nextDelta: 6n },
      }
      const table: string[] = []
      let earned = 0n

      const compare = async (name: string, height: bigint): Promise<void> => {
        await contract.write(stakes, height)
        const { reading, calls, bytes } = await poll()
        table.push(`${count} validators, ${name}: ${calls} calls, ${bytes} bytes`)
        const inForce = stakes.isInDelay ? stakes.snapshot : stakes.consensus
        const limit = 200
        const weakest = stakes.sets.consensus.at(-1) ?? 0n
        const threshold = count > limit ? stakeOf(weakest) : 10_000_000n * WEI
        const boundary = stakes.epoch * LENGTH - 1n
        expect(reading).toMatchObject({
          up: true,
          block: { number: height },
          isRegistered: true,
          epoch: { epoch: stakes.epoch, isInDelay: stakes.isInDelay, progress: { boundaryBlock: boundary } },
          sets: {
            execution: stakes.sets.execution.length,
            consensus: stakes.sets.consensus.length,
            snapshot: stakes.sets.snapshot.length,
            limit,
          },
          validator: {
            id: 7n,
            isActive: inForce.stake > 0n,
            isActiveNext: stakes.isInDelay ? stakes.consensus.stake > 0n : null,
            flags: stakes.flags,
            stake: { execution: stakes.stake, consensus: stakes.consensus.stake, snapshot: stakes.snapshot.stake },
            commission: {
              execution: stakes.commission,
              consensus: stakes.consensus.commission,
              snapshot: stakes.snapshot.commission,
            },
            selfStake: stakes.own.stake + stakes.own.delta + stakes.own.nextDelta,
            pending: { all: stakes.stake - inForce.stake, own: stakes.own.delta + stakes.own.nextDelta },
            unclaimed: { all: stakes.unclaimed, own: stakes.own.unclaimed },
            threshold,
            rank: stakes.flags === 0n && stakes.sets.consensus.includes(7n) ? 1 : null,
          },
        })
        const margin = reading.validator?.margin
        if (stakes.flags === 0n) expect(margin).toBeCloseTo(Number(stakes.stake - threshold) / Number(threshold), 12)
        else expect(margin).toBe(null)
      }
      const earn = (): void => {
        const stake = stakes.isInDelay ? stakes.snapshot.stake : stakes.consensus.stake
        stakes.accumulator += 10n ** 30n
        earned += stake / 10n ** 6n
      }

      await compare('the first poll', start + 10n)
      for (let epoch = 0n; epoch < 3n; epoch += 1n) {
        const from = start + epoch * LENGTH
        earn()
        stakes.stake -= 100_000n * WEI
        stakes.commission += WEI / 100n
        stakes.unclaimed += 999n
        await compare('a poll within the epoch', from + 500n)
        // The boundary block: the consensus view becomes the snapshot, and the execution view that of consensus.
        earn()
        const isLeaving = epoch === 1n
        stakes.snapshot = stakes.consensus
        stakes.flags = isLeaving ? 1n : 0n
        stakes.consensus = isLeaving
          ? { stake: 0n, commission: 0n }
          : { stake: stakes.stake, commission: stakes.commission }
        const others = first(Math.min(count, 200) + 1).filter((id) => id !== 7n)
        stakes.sets = {
          ...stakes.sets,
          snapshot: stakes.sets.consensus,
          consensus: isLeaving ? others.slice(0, Math.min(count, 200)) : consensus,
        }
        stakes.isInDelay = true
        await compare('the boundary block', from + LENGTH - 1n)
        earn()
        stakes.own.delta = 0n
        await compare('a poll in the delay', from + LENGTH + 20n)
        stakes.isInDelay = false
        stakes.epoch += 1n
        await compare('the next epoch', from + LENGTH + DELAY)
      }
      expect(total('chain_staking_reward_tokens_total{share=pool}')).toBeCloseTo(Number(earned) / 1e18, 9)
      console.log([...new Set(table)].join('\n'))
    },
  )
})
