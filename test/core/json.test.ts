import { expect, test } from 'vitest'
import { exceededLimit, parseJson, toJson, tryJson } from '../../src/core/json.ts'
import { LIMITS } from '../../src/core/limits.ts'
import { SourceError } from '../../src/core/errors.ts'

const LARGE = 1_000_000

test.each([
  ['', 0, undefined],
  ['[]', 0, 'depth'],
  ['[]', 1, undefined],
  ['[[],[],{}]', 2, undefined],
  ['[[],{"a":[]}]', 2, 'depth'],
  ['["[[[", "]"]', 1, undefined],
  [String.raw`["\"[[", "\\", []]`, 1, 'depth'],
  [String.raw`["\\\"[", "[\\\\"]`, 1, undefined],
  ['["[[', 1, undefined],
  [String.raw`["\"`, 1, undefined],
])('%s: at most %d levels: exceeds %s', (text, depth, expected) => {
  expect(exceededLimit(text, { depth, values: LARGE })).toBe(expected)
})

test.each([
  ['1', 1],
  ['[]', 2],
  ['[1,2,3]', 4],
  ['{"a":1,"b":[2]}', 4],
  ['[",,,","[["]', 3],
  ['[{},{},{}]', 7],
])('%s has %d values: the value itself, each bracket, each comma', (text, values) => {
  expect(exceededLimit(text, { depth: LARGE, values })).toBeUndefined()
  expect(exceededLimit(text, { depth: LARGE, values: values - 1 })).toBe(values === 1 ? undefined : 'values')
})

test('JSON is not parsed beyond its limits', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  expect(tryJson(nested(LIMITS.json.depth))).toBeInstanceOf(Array)
  expect(tryJson(nested(LIMITS.json.depth + 1))).toBeUndefined()
  expect(() => parseJson('an answer', nested(65))).toThrow(/expected JSON of at most 64 levels/)
  expect(() => parseJson('an answer', '[')).toThrow(/expected JSON\n/)
  const limits = { depth: 1, values: 4 }
  expect(tryJson('[1,2,3]', limits)).toEqual([1, 2, 3])
  expect(tryJson('[1,2,3,4]', limits)).toBeUndefined()
  expect(() => parseJson('an answer', '[1,2,3,4]', limits)).toThrow(/expected JSON of at most 4 values/)
})

test('millions of values take memory for none of them', () => {
  const text = `[${'{},'.repeat(2_700_000)}{}]`
  const before = process.memoryUsage().heapUsed
  expect(tryJson(text)).toBeUndefined()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000)
})

test('millions of levels take time and memory for none of them', () => {
  const text = '['.repeat(8_000_000)
  const before = process.memoryUsage().heapUsed
  const began = process.cpuUsage()
  expect(tryJson(text)).toBeUndefined()
  expect(process.cpuUsage(began).user).toBeLessThan(1_000_000)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000)
})

test('JSON: 64 bits as digits, unknown as null, maps as objects', () => {
  expect(toJson({ a: 2n ** 63n, b: undefined, c: [1n, null], d: new Map([['x', 1n]]) })).toEqual({
    a: '9223372036854775808',
    b: null,
    c: ['1', null],
    d: { x: '1' },
  })
})

test('an error in a reading becomes its words, without all that a tool printed', () => {
  const error = new SourceError({ doing: 'run x', happened: 'exit code 1' }, { output: 'PASSWORD=hunter2' })
  expect(toJson({ reading: { ok: false, error } })).toEqual({
    reading: { ok: false, error: 'Could not run x: exit code 1' },
  })
})
