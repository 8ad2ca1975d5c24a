import { describe, expect, test } from 'vitest'
import { createLeaderSchedule, draw } from '../../src/domain/leader-schedule.ts'

const TEN_25 = 10n ** 25n
/** In another order than that of their keys. */
const MEMBERS = [
  { secpKey: `03${'00'.repeat(32)}`, stake: 2n * TEN_25 },
  { secpKey: `02${'11'.repeat(32)}`, stake: 5n * TEN_25 },
  { secpKey: `02${'22'.repeat(32)}`, stake: 3n * TEN_25 },
]
const SORTED = MEMBERS.toSorted((a, b) => (a.secpKey < b.secpKey ? -1 : 1)).map(({ secpKey }) => secpKey)

describe('the leader schedule', () => {
  /** Drawn by the node's own code. */
  test.each([
    [1n, 43_146_015_625_038_141_231_216_538n, 0],
    [2n, 2_052_064_171_448_374_782_266_254n, 0],
    [3n, 67_899_954_782_136_759_868_142_591n, 1],
    [89_758_000n, 64_308_115_411_587_525_438_217_947n, 1],
    [89_758_001n, 798_454_742_147_660_134_868_420n, 0],
    [89_758_002n, 71_334_623_821_826_802_940_834_011n, 1],
  ])('round %s draws %s', (round, drawn, member) => {
    expect(draw(round, 10n * TEN_25)).toBe(drawn)
    expect(createLeaderSchedule(MEMBERS).leader(round)).toBe(SORTED[member])
  })

  test('with a stake of 1 each, the drawn number is the position of the leader', () => {
    const schedule = createLeaderSchedule(MEMBERS.map(({ secpKey }) => ({ secpKey, stake: 1n })))
    const rounds = Array.from({ length: 20 }, (_, round) => BigInt(round))
    const drawn = rounds.map((round) => Number(draw(round, 3n)))
    expect(new Set(drawn)).toEqual(new Set([0, 1, 2]))
    expect(rounds.map((round) => schedule.leader(round))).toEqual(drawn.map((member) => SORTED[member]))
  })

  test('small numbers are not drawn more often, although three quarters of 2^256 do not divide it', () => {
    const quarter = 2n ** 254n
    const low = Array.from({ length: 900 }, (_, round) => draw(BigInt(round), 3n * quarter) < quarter).filter(Boolean)
    // A third is 300, with a standard deviation of 14; with the last quarter folded onto the first it would be 450.
    expect(Math.abs(low.length - 300)).toBeLessThan(3 * 14)
  })

  test('a member without stake is never the leader; without any stake there is none', () => {
    const [first] = MEMBERS
    const idle = { secpKey: `02${'00'.repeat(32)}`, stake: 0n }
    const schedule = createLeaderSchedule(first ? [idle, first] : [])
    expect([1n, 2n, 3n].map((round) => schedule.leader(round))).toEqual(Array.from({ length: 3 }, () => first?.secpKey))
    expect(createLeaderSchedule([idle]).leader(1n)).toBeUndefined()
  })
})
