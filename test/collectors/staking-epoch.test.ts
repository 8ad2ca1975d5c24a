import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addRewards, membership, progressOf, rewardsBetween } from '../../src/collectors/staking/epoch.ts'

const LENGTH = { length: { blocks: 50, delayRounds: 5 }, blockTime: 400 }
const at = (number: bigint) => ({ number, at: Number(number) * 400 })

describe('the progress of an epoch', () => {
  test('over whole epochs, block by block', () => {
    // Blocks 49, 99, 149 are boundary blocks; the next epoch starts five blocks later.
    for (let block = 0n; block < 200n; block += 1n) {
      const sinceBoundary = block < 49n ? null : (block - 49n) % 50n
      const isInDelay = sinceBoundary !== null && sinceBoundary < 5n
      const started = 1n + (block >= 54n ? 1n + (block - 54n) / 50n : 0n)
      const boundary = isInDelay
        ? block - (sinceBoundary ?? 0n)
        : block < 49n
          ? 49n
          : block - (sinceBoundary ?? 0n) + 50n
      expect(progressOf({ epoch: started, isInDelay }, at(block), LENGTH)).toEqual({
        boundaryBlock: boundary,
        progress: Number(sinceBoundary ?? block + 1n) / 50,
        boundaryAt: Number(boundary) * 400,
        nextEpochAt: Number(boundary + 5n) * 400,
      })
      for (const other of [started - 1n, started + 1n])
        expect(progressOf({ epoch: other, isInDelay }, at(block), LENGTH)).toBe(null)
    }
  })

  test('published blocks of mainnet', () => {
    const mainnet = { length: { blocks: 50_000, delayRounds: 5000 }, blockTime: null }
    expect(progressOf({ epoch: 677n, isInDelay: false }, at(33_808_561n), mainnet)).toMatchObject({
      boundaryBlock: 33_849_999n,
      boundaryAt: null,
    })
    expect(progressOf({ epoch: 1024n, isInDelay: true }, at(51_203_516n), mainnet)).toMatchObject({
      boundaryBlock: 51_199_999n,
    })
    expect(progressOf({ epoch: 1025n, isInDelay: true }, at(51_203_516n), mainnet)).toBe(null)
  })
})

const view = (stake: bigint) => ({ stake, commission: 0n })
const validator = (consensus: bigint, snapshot: bigint) => ({
  authAddress: '0x1',
  flags: 0n,
  accumulatedReward: 0n,
  unclaimedRewards: 0n,
  secpKey: '',
  blsKey: '',
  execution: view(1n),
  consensus: view(consensus),
  snapshot: view(snapshot),
})

test.each([
  { isInDelay: false, consensus: 1n, snapshot: 0n, isActive: true, isActiveNext: null },
  { isInDelay: false, consensus: 0n, snapshot: 1n, isActive: false, isActiveNext: null },
  { isInDelay: true, consensus: 1n, snapshot: 0n, isActive: false, isActiveNext: true },
  { isInDelay: true, consensus: 0n, snapshot: 1n, isActive: true, isActiveNext: false },
])(
  'in the delay: $isInDelay, consensus $consensus, snapshot $snapshot',
  ({ isInDelay, consensus, snapshot, ...of }) => {
    expect(membership({ epoch: 1n, isInDelay }, validator(consensus, snapshot))).toEqual(of)
  },
)

describe('rewards by the accumulator', () => {
  const WEI = 10n ** 18n
  const base = { id: 1n, epoch: 5n, accumulatedReward: 0n, stake: 11_000_003n * WEI, commission: WEI / 10n, at: 1000 }

  test('against a model of the node: exact to a wei per poll', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: 100n * WEI }), { maxLength: 40 }), (blocks) => {
        let accumulator = 0n
        let paid = 0n
        for (const reward of blocks) {
          const rest = reward - (reward * base.commission) / WEI
          accumulator += (rest * 10n ** 36n) / base.stake
          paid += rest
        }
        const found = rewardsBetween(base, { ...base, accumulatedReward: accumulator })
        const difference = paid - (found?.pool ?? 0n)
        expect(difference >= 0n && difference <= 1n).toBe(true)
      }),
    )
  })

  test.each([
    ['no earlier reading', null, base],
    ['an accumulator that decreased', { ...base, accumulatedReward: 2n }, base],
    ['an epoch that decreased', { ...base, epoch: 6n }, base],
    ['two new epochs', { ...base, epoch: 3n }, base],
    ['another validator', { ...base, id: 2n }, base],
  ])('%s is a new baseline', (_, before, now) => {
    expect(rewardsBetween(before, now)).toBe(null)
  })

  test('across one epoch, at the older stake', () => {
    const before = { ...base, epoch: 4n, stake: 10n * WEI }
    expect(rewardsBetween(before, { ...base, accumulatedReward: 10n ** 36n })?.pool).toBe(10n * WEI)
  })

  test('at a commission of 100 % the commission is unknown', () => {
    expect(rewardsBetween({ ...base, commission: WEI }, base)).toEqual({ pool: 0n, commission: null })
  })

  test('by epoch: what is read after a boundary belongs to the epoch before it', () => {
    const points = [
      { ...base, at: 1000 },
      { ...base, at: 2000 },
      { ...base, at: 3000, epoch: 6n },
      { ...base, at: 4000, epoch: 6n },
    ]
    let all: ReturnType<typeof addRewards> = []
    for (const [index, now] of points.slice(1).entries()) {
      const before = points[index] ?? base
      all = addRewards(all, { pool: 10n, commission: index === 2 ? null : 1n }, { before, now })
    }
    expect(all).toEqual([
      { epoch: 5n, pool: 20n, commission: 2n, fromAt: 1000, toAt: 3000 },
      { epoch: 6n, pool: 10n, commission: null, fromAt: 3000, toAt: 4000 },
    ])
  })

  test('by epoch: 60 epochs are kept, and those of a chain that was reset are dropped', () => {
    let all: ReturnType<typeof addRewards> = []
    const add = (epoch: bigint): void => {
      all = addRewards(all, { pool: 1n, commission: 1n }, { before: { ...base, epoch }, now: { ...base, epoch } })
    }
    for (let epoch = 1n; epoch <= 61n; epoch += 1n) add(epoch)
    expect(all.map(({ epoch }) => epoch).at(0)).toBe(2n)
    add(1n)
    expect(all.map(({ epoch }) => epoch)).toEqual([1n])
  })
})
