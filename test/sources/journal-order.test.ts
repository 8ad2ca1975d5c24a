import { describe, expect, test } from 'vitest'
import { compareOrder, createTimeline, describeStep, type OrderedPosition } from '../../src/sources/journal-order.ts'

const cursorOf = (sequence: string, number: number): string => `s=${sequence.repeat(32)};i=${number.toString(16)};b=0`
const position = (at: number, more: Partial<OrderedPosition> = {}): OrderedPosition => ({ cursor: '', at, ...more })

describe('the order of two entries', () => {
  test.each([
    ['monotonic time within a boot', { boot: 'a', monotonic: 5 }, { boot: 'a', monotonic: 6 }],
    [
      'sequence numbers between boots',
      { boot: 'a', cursor: cursorOf('5', 9) },
      { boot: 'b', cursor: cursorOf('5', 16) },
    ],
    ['sequence numbers of the same millisecond', { cursor: cursorOf('5', 9) }, { cursor: cursorOf('5', 10) }],
  ])('is by %s, against the clock', (_, earlier, later) => {
    const [a, b] = [position(1000, earlier), position(400, later)]
    expect(compareOrder(a, b)).toBeLessThan(0)
    expect(compareOrder(b, a)).toBeGreaterThan(0)
  })

  test('is by the clock if nothing else is comparable', () => {
    expect(compareOrder(position(1000), position(400))).toBe(600)
    const other = { boot: 'b', monotonic: 1, cursor: cursorOf('6', 1) }
    expect(
      compareOrder(position(1000, { boot: 'a', monotonic: 9, cursor: cursorOf('5', 9) }), position(400, other)),
    ).toBe(600)
  })
})

describe('the timeline', () => {
  const MINUTE = 60_000
  /** Each entry: boot, monotonic time and clock, in minutes. */
  const placed = (...entries: readonly (readonly [boot: string | undefined, monotonic: number, at: number])[]) => {
    const place = createTimeline()
    return entries.map(([boot, monotonic, at]) => {
      const { elapsed, offset, step } = place({
        at: at * MINUTE,
        ...(boot !== undefined && { boot, monotonic: monotonic * MINUTE }),
      })
      return [elapsed / MINUTE, offset / MINUTE, step && step.by / MINUTE]
    })
  }

  test('continues by the monotonic time while the clock is 40 minutes behind, and has both steps', () => {
    expect(placed(['a', 10, 600], ['a', 20, 570], ['a', 30, 580], ['a', 40, 630])).toEqual([
      [600, 0, undefined],
      [610, -40, -40],
      [620, -40, undefined],
      [630, 0, 40],
    ])
  })

  test('has the time between boots from the clock, and none if the clock went back', () => {
    expect(placed(['a', 10, 600], ['b', 1, 605], ['b', 2, 606], ['c', 1, 500], ['c', 2, 501])).toEqual([
      [600, 0, undefined],
      [605, 0, undefined],
      [606, 0, undefined],
      [606, -106, -106],
      [607, -106, undefined],
    ])
  })

  test('stays where it is for an entry that was recorded late, with and without a boot', () => {
    expect(placed(['a', 10, 600], ['a', 5, 595], ['a', 11, 601])).toEqual([
      [600, 0, undefined],
      [600, 0, undefined],
      [601, 0, undefined],
    ])
    expect(placed([undefined, 0, 600], [undefined, 0, 560], [undefined, 0, 601])).toEqual([
      [600, 0, undefined],
      [600, 0, undefined],
      [601, 0, undefined],
    ])
  })

  test('has no step for a few seconds, which the offset shows', () => {
    const place = createTimeline()
    place({ at: 100_000, boot: 'a', monotonic: 0 })
    expect(place({ at: 96_000, boot: 'a', monotonic: 5000 })).toEqual({
      elapsed: 105_000,
      offset: -9000,
      step: undefined,
    })
  })

  test('describes a step with the times before and after it', () => {
    expect(
      describeStep({ from: Date.UTC(2026, 10, 24, 10, 9, 55), to: Date.UTC(2026, 10, 24, 9, 30), by: -2_400_000 }),
    ).toBe('the clock of this host went back 40 min: 2026-11-24T10:09:55Z was followed by 2026-11-24T09:30:00Z')
  })
})
