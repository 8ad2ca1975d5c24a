import { expect, test } from 'vitest'
import { isDeeper, parseJson, toJson, tryJson } from '../../src/core/json.ts'
import { LIMITS } from '../../src/core/limits.ts'
import { SourceError } from '../../src/core/errors.ts'

test.each([
  ['', 0, false],
  ['[]', 0, true],
  ['[]', 1, false],
  ['[[],[],{}]', 2, false],
  ['[[],{"a":[]}]', 2, true],
  ['["[[[", "]"]', 1, false],
  [String.raw`["\"[[", "\\", []]`, 1, true],
  [String.raw`["\\\"[", "[\\\\"]`, 1, false],
  ['["[[', 1, false],
  [String.raw`["\"`, 1, false],
])('%s: deeper than %d levels: %s', (text, limit, expected) => {
  expect(isDeeper(text, limit)).toBe(expected)
})

test('JSON is not parsed beyond the depth limit', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  expect(tryJson(nested(LIMITS.json.depth))).toBeInstanceOf(Array)
  expect(tryJson(nested(LIMITS.json.depth + 1))).toBeUndefined()
  expect(() => parseJson('an answer', nested(65))).toThrow(/expected JSON of at most 64 levels/)
  expect(() => parseJson('an answer', '[')).toThrow(/expected JSON\n/)
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

test('texts and keys lose what a terminal interprets: controls, escape sequences, directions, zero width', () => {
  const hostile = new Map([['a\u202eb', 'one\u001b[31mtwo\u200b\u009b2Jthree\u2066\u0007 \u0000']])
  const error = new SourceError({ doing: 'read \u202ex', happened: 'no\u001b]0;title\u0007thing' })
  expect(toJson({ hostile, list: ['\u202dc'], 'k\u200dey': error })).toEqual({
    // A control character that is not part of a word leaves a sign.
    hostile: { ab: 'onetwothree\ufffd \ufffd' },
    list: ['c'],
    key: 'Could not read x: nothing',
  })
})
