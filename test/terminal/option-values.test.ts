import { InvalidArgumentError } from 'commander'
import { expect, test } from 'vitest'
import { readTime } from '../../src/terminal/option-values.ts'

const NOW = Date.UTC(2026, 2, 1, 12, 30)
const read = readTime({ now: () => NOW })

test.each([
  ['1h', '2026-03-01T11:30:00.000Z'],
  ['-90s', '2026-03-01T12:28:30.000Z'],
  ['2h30m ago', '2026-03-01T10:00:00.000Z'],
  ['now', '2026-03-01T12:30:00.000Z'],
  ['today', '2026-03-01T00:00:00.000Z'],
  ['yesterday', '2026-02-28T00:00:00.000Z'],
  ['@1772366400', '2026-03-01T12:00:00.000Z'],
  ['@1772366400.5', '2026-03-01T12:00:00.500Z'],
  ['2026-02-28', '2026-02-28T00:00:00.000Z'],
  ['2026-02-28 23:59', '2026-02-28T23:59:00.000Z'],
  ['2026-02-28T23:59:58.123456Z', '2026-02-28T23:59:58.123Z'],
  ['2026-02-28 23:59:58 UTC', '2026-02-28T23:59:58.000Z'],
  ['2026-03-01T01:00:00+02:00', '2026-02-28T23:00:00.000Z'],
])('%s is %s', (text, expected) => {
  expect(new Date(read(text)).toISOString()).toBe(expected)
})

test.each(['99999999d', '1960-01-01', '9999-12-31', '@999999999999'])(
  '%s is outside the range of the journal',
  (text) => {
    expect(() => read(text)).toThrow('expected a time from 1970 to 9999')
  },
)

test.each(['', 'soon', '1', '2026-02-30', '2026-13-01', '25:00', '2026-03-01T25:00', '@x', 'ago'])(
  '%j is rejected',
  (text) => {
    expect(() => read(text)).toThrow(InvalidArgumentError)
  },
)
