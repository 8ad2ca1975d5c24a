import { describe, expect, test } from 'vitest'
import { epochPosition } from '../../src/domain/epoch.ts'

const LENGTH = { blocks: 50_000, delayRounds: 5000 }

describe('the position in an epoch', () => {
  test.each([
    // Published ledger lines: 8,561 past the boundary, and 3,516 past it, in the delay.
    { height: 33_808_561, epoch: 677, expected: { phase: 'before boundary', blocksLeft: 41_438 } },
    { height: 51_203_516, epoch: 1024, expected: { phase: 'delay', blocksLeft: 1483 } },
    { height: 0, epoch: 1, expected: { phase: 'before boundary', blocksLeft: 49_999 } },
    { height: 49_998, epoch: 1, expected: { phase: 'before boundary', blocksLeft: 1 } },
    // The boundary block itself begins the delay.
    { height: 49_999, epoch: 1, expected: { phase: 'delay', blocksLeft: 5000 } },
    { height: 54_999, epoch: 1, expected: { phase: 'delay', blocksLeft: 0 } },
    { height: 52_000, epoch: 2, expected: { phase: 'before boundary', blocksLeft: 47_999 } },
  ])('block $height of epoch $epoch', ({ height, epoch, expected }) => {
    expect(epochPosition({ height, epoch }, LENGTH)).toEqual(expected)
  })

  test.each([
    { height: 55_000, epoch: 1 },
    { height: 33_808_561, epoch: 678 },
    { height: 33_808_561, epoch: 675 },
  ])('block $height of epoch $epoch does not fit', ({ height, epoch }) => {
    expect(epochPosition({ height, epoch }, LENGTH)).toBeUndefined()
  })
})
