import { afterAll, beforeAll, expect, it } from 'vitest'
import { readStakingNetworks } from '../../src/config/staking.ts'
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

/** The collector's polls of that node. */
const collectorOf = (url: string) =>
  stakingPoll(url, {
    stakingNetworks: (chainId) => ({
      ...readStakingNetworks()(chainId),
      length: { blocks: Number(LENGTH), delayRounds: Number(DELAY) },
    }),
  })

describe('the staking precompile on a real EVM', () => {
  let node: EvmNode
  beforeAll(async () => {
    node = await startHardhat()
  })
  afterAll(() => node.stop())

  it('is missing on a chain without it', async () => {
    await expect(collectorOf(node.url).poll()).rejects.toThrow('this chain has none')
  })

  it.each([1, 200, 2000])(
    'every value is that of the contract over three epochs, with %d validators',
    async (count) => {
      const contract = await stakingContract(node.url)
      await contract.install()
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
      let earned = 0n

      const compare = async (height: bigint): Promise<void> => {
        await contract.write(stakes, height)
        const reading = await poll()
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

      await compare(start + 10n)
      for (let epoch = 0n; epoch < 3n; epoch += 1n) {
        const from = start + epoch * LENGTH
        earn()
        stakes.stake -= 100_000n * WEI
        stakes.commission += WEI / 100n
        stakes.unclaimed += 999n
        await compare(from + 500n)
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
        await compare(from + LENGTH - 1n)
        earn()
        stakes.own.delta = 0n
        await compare(from + LENGTH + 20n)
        stakes.isInDelay = false
        stakes.epoch += 1n
        await compare(from + LENGTH + DELAY)
      }
      expect(total('chain_staking_reward_tokens_total{share=pool}')).toBeCloseTo(Number(earned) / 1e18, 9)
    },
  )
})
