import { describe, expect, it } from 'vitest'
import { levelsOfRecording, onsetsOf, seconds, statesOf } from './rules-history.ts'

const at = (...moments: readonly number[]) => moments.map((moment) => [moment, 1] as const)

describe('when an alert is pending, and when it fires', () => {
  const waits = { pending: 60, kept: 0, step: 30 }

  it('fires after `for`', () => {
    expect(statesOf(at(0, 30, 60, 90), waits)).toEqual({ pending: [0, 30], firing: [60, 90] })
  })

  it('restarts after a gap', () => {
    expect(statesOf(at(0, 30, 60, 120, 150), waits)).toEqual({
      pending: [0, 30, 120, 150],
      firing: [60],
    })
  })

  it('is kept firing over a gap and at its end', () => {
    expect(statesOf(at(0, 30, 60, 150, 180), { ...waits, kept: 90 })).toEqual({
      pending: [0, 30],
      firing: [60, 90, 120, 150, 180, 210, 240, 270],
    })
  })

  it('is not kept if it never fired', () => {
    expect(statesOf(at(0, 30, 120), { ...waits, kept: 90 })).toEqual({
      pending: [0, 30, 120],
      firing: [],
    })
  })
})

it('the onset is the time at which the alert became pending, and a new one after a gap', () => {
  const waits = { pending: 60, kept: 0, step: 30 }
  expect(onsetsOf(at(0, 30, 60, 120, 150), waits)).toEqual([
    [0, 0],
    [30, 0],
    [60, 0],
    [120, 120],
    [150, 120],
  ])
})

it('durations', () => {
  expect([seconds(), seconds('90s'), seconds('1h30m')]).toEqual([0, 90, 5400])
})

it('rules on recorded series are recorded after them', () => {
  const levels = levelsOfRecording().map((level) => level.map(({ record }) => record))
  const levelOf = (record: string): number => levels.findIndex((level) => level.includes(record))
  expect(levelOf('instance:chain_block_age:seconds')).toBe(0)
  expect(levelOf('instance:chain_available:bool')).toBeGreaterThan(0)
  expect(levelOf('instance:chain_available:avg1h')).toBeGreaterThan(levelOf('instance:chain_available:bool'))
})
