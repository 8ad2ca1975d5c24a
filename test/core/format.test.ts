import { expect, test } from 'vitest'
import { duration, figure, size } from '../../src/core/format.ts'

test.each([
  [0, '0'],
  [158_727_321, '158,727,321'],
  [18_446_744_073_709_551_614n, '18,446,744,073,709,551,614'],
  // A number of JavaScript would round it.
  ['9007199254740993', '9,007,199,254,740,993'],
  ['-120', '-120'],
  [-123_456, '-123,456'],
  [1e21, '1,000,000,000,000,000,000,000'],
  [1234.5, '1,234.5'],
  [0.1855, '0.186'],
  [-0.1855, '-0.186'],
  [1.0005, '1.001'],
  [999.9996, '1,000'],
  [0.0004, '0'],
  [-0, '0'],
  [1e-9, '0'],
])('figure %s is %s', (value, text) => {
  expect(figure(value)).toBe(text)
})

test.each([
  [0, '0 bytes'],
  [921, '921 bytes'],
  [922, '0.90 KiB'],
  [1536, '1.50 KiB'],
  [2 * 2 ** 20, '2.00 MiB'],
  [100e9, '93.13 GiB'],
  [1.81 * 2 ** 40, '1.81 TiB'],
])('size %d is %s', (bytes, text) => {
  expect(size(bytes)).toBe(text)
})

test.each([
  [-5000, '0 s'],
  [999, '0 s'],
  [46_999, '46 s'],
  [60_000, '1 min'],
  [200_000, '3 min 20 s'],
  [3_600_000, '1 h'],
  // One hour and 59 seconds: the minutes are zero.
  [3_659_000, '1 h'],
  [((2 * 24 + 5) * 60 + 12) * 60_000 + 4000, '2 d 5 h'],
])('duration: %d ms is %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

test('a duration in one unit is rounded down', () => {
  expect(duration(119_999, 1)).toBe('1 min')
})
