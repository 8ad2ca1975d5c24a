import { expect, test } from 'vitest'
import { checkBudget, hasEnoughWindows } from '../../bench/budget.ts'

const RELEASE = { version: '0.2.0', commit: '1fdbfc71' }
const PEER = 'chain-agent 0.2.0 (1fdbfc71)'

/** Windows in which the release needs 6, 7, 8 … % of a core and 100 MiB, and this checkout `points` and `mib` more. */
const windows = (points: readonly number[], mib = 0) =>
  points.map((more, index) => [
    { figures: { 'CPU, % of one core': 6 + index + more, 'RSS, MiB': 100 + mib } },
    { figures: { 'CPU, % of one core': 6 + index, 'RSS, MiB': 100 } },
    { figures: { 'CPU, % of one core': 0.5, 'RSS, MiB': 20 } },
  ])

const check = (rounds: ReturnType<typeof windows>) =>
  checkBudget(
    { name: 'agent', measured: { programs: ['chain-agent', PEER, 'node_exporter 1.5.0'], skipped: [], rounds } },
    RELEASE,
  )

test('0.3 points more are too much, although the windows differ by more than that', () => {
  expect(check(windows([0.3, 0.25, 0.35, 0.2, 0.4]))).toEqual({
    isKept: false,
    lines: [
      `agent: TOO MUCH: CPU +0.30 points against ${PEER}, limit +0.10 (median of 5 windows, +0.20 to +0.40)`,
      `agent: ok: RSS +0.0 % against ${PEER}, limit +5.0 % (median of 5 windows, +0.0 % to +0.0 %)`,
      'agent: a change that needs more names its reason in CHANGELOG.md (CONTRIBUTING.md has the steps of a release)',
    ],
  })
})

test('0.05 points more are within the limit, and so is less', () => {
  expect(check(windows([0.05, 0.01, 0.09, 0, 0.08]))).toEqual({
    isKept: true,
    lines: [
      `agent: ok: CPU +0.05 points against ${PEER}, limit +0.10 (median of 5 windows, +0.00 to +0.09)`,
      `agent: ok: RSS +0.0 % against ${PEER}, limit +5.0 % (median of 5 windows, +0.0 % to +0.0 %)`,
    ],
  })
  expect(check(windows([-2, -2, -1, -3, -2])).lines[0]).toBe(
    `agent: ok: CPU −2.00 points against ${PEER}, limit +0.10 (median of 5 windows, −3.00 to −1.00)`,
  )
})

test('RSS may be 5 % higher', () => {
  const equal = [0, 0, 0, 0, 0]
  expect(check(windows(equal, 5)).isKept).toBe(true)
  const { isKept, lines } = check(windows(equal, 6))
  expect(isKept).toBe(false)
  expect(lines[1]).toBe(
    `agent: TOO MUCH: RSS +6.0 % against ${PEER}, limit +5.0 % (median of 5 windows, +6.0 % to +6.0 %)`,
  )
})

test('a comparison without the release is not within the budget, with the reason', () => {
  const other = { programs: ['chain-agent', 'node_exporter 1.5.0'], skipped: [], rounds: windows([0]) }
  expect(checkBudget({ name: 'agent', measured: other }, RELEASE)).toEqual({
    isKept: false,
    lines: [`agent: not compared with ${PEER}: not measured`],
  })
  expect(checkBudget({ name: 'agent-logs', failure: 'no systemd' }, RELEASE).lines).toEqual([
    `agent-logs: not compared with ${PEER}: failed`,
  ])
})

test('a check takes windows until the median is clearly on one side of the limit, at least 5 and at most 20', () => {
  const [over, under] = [0.3, 0.05]
  const times = (count: number, points: number): readonly number[] => Array.from({ length: count }, () => points)
  expect(hasEnoughWindows(windows(times(4, over)))).toBe(false)
  expect(hasEnoughWindows(windows(times(5, over)))).toBe(true)
  expect(hasEnoughWindows(windows(times(5, under)))).toBe(true)
  expect(hasEnoughWindows(windows([...times(6, over), under]))).toBe(false)
  expect(hasEnoughWindows(windows([...times(7, over), under]))).toBe(true)
  expect(hasEnoughWindows(windows([...times(10, over), ...times(9, under)]))).toBe(false)
  const most = windows([...times(10, over), ...times(10, under)])
  expect(hasEnoughWindows(most)).toBe(true)
  expect(check(most).lines[2]).toBe(
    'agent: the windows differ too much for a clear result: repeat it on a quiet machine',
  )
})
