import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLeaderSchedule } from '../../src/domain/leader-schedule.ts'
import { createChain } from '../../simulator/chain.ts'

const chain = createChain(7)
const SOME_DAY = Date.UTC(2026, 4, 17, 6, 30)
const moments = fc.integer({ min: Date.UTC(2025, 0, 2), max: Date.UTC(2035, 0, 1) })
const hour = [...chain.between(SOME_DAY, SOME_DAY + 3_600_000)]

describe('the chain', () => {
  test('has every block once, each linked to the one before it, at any time', () => {
    fc.assert(
      fc.property(moments, (ms) => {
        const head = chain.headAt(ms)
        const before = chain.block(head.seqNum - 1n)
        expect(chain.block(head.seqNum)).toEqual(head)
        expect(chain.round(head.round)).toEqual(head)
        expect(before?.round).toBe(head.parentRound)
        const pause = head.timeMs - (before?.timeMs ?? 0)
        const skipped = Number(head.round - head.parentRound - 1n)
        expect(skipped).toBeLessThanOrEqual(1)
        expect(pause).toBeGreaterThanOrEqual(300 + 1000 * skipped)
        expect(pause).toBeLessThanOrEqual(400 + 1000 * skipped)
      }),
    )
  })

  test('has a head that has been seen and whose successor has not', () => {
    fc.assert(
      fc.property(moments, (ms) => {
        const head = chain.headAt(ms)
        expect(head.seenMs).toBeLessThanOrEqual(ms)
        expect(head.seenMs).toBeGreaterThan(head.timeMs)
        expect(chain.block(head.seqNum + 1n)?.seenMs).toBeGreaterThan(ms)
      }),
    )
  })

  test('returns the rounds in order, independent of the time ranges', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 600_000 }), (cut) => {
        const end = SOME_DAY + 600_000
        const parts = [...chain.between(SOME_DAY, SOME_DAY + cut), ...chain.between(SOME_DAY + cut, end)]
        expect(parts).toEqual([...chain.between(SOME_DAY, end)])
      }),
      { numRuns: 20 },
    )
    const rounds = hour.map(({ round }) => round)
    expect(rounds).toEqual(rounds.map((_, index) => (rounds[0] ?? 0n) + BigInt(index)))
    expect(hour.every(({ seenMs }, index) => index === 0 || seenMs > (hour[index - 1]?.seenMs ?? 0))).toBe(true)
  })

  test('starts a new epoch 5,000 rounds after each boundary block', () => {
    // A stride of 40 rounds has 39 blocks: block 49,999 is the second of stride 1,282, of round 51,281 or 51,282.
    const boundary = chain.block(49_999n)
    expect(boundary?.epoch).toBe(1n)
    expect([51_281n, 51_282n]).toContain(boundary?.round)
    const start = (boundary?.round ?? 0n) + 5000n
    const around = [...Array(4).keys()].map((index) => chain.round(start - 2n + BigInt(index)))
    const epochs = around.flatMap((one) => (one?.kind === 'block' ? [[one.round < start, one.epoch]] : []))
    expect(epochs.length).toBeGreaterThanOrEqual(3)
    for (const [isBefore, epoch] of epochs) expect(epoch).toBe(isBefore === true ? 1n : 2n)
    expect(chain.block(-1n)).toBeUndefined()
  })

  test('its leaders are those of the leader schedule', () => {
    const members = chain.validators.map(({ publicKey, stake }) => ({ secpKey: publicKey, stake }))
    const schedule = createLeaderSchedule(members)
    expect(members.reduce((sum, { stake }) => sum + stake, 0n)).toBe(250_000_000n * 10n ** 18n)
    for (const { round, leader } of hour.slice(0, 500)) expect(leader.publicKey).toBe(schedule.leader(round))
  })
})
