import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exceededLimit, parseInSteps, parseJson, toApiJson, toJson, tryJson } from '../../src/core/json.ts'
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
  expect(exceededLimit(Buffer.from(text), { depth, values: LARGE })).toBe(expected)
})

test.each([
  ['1', 1],
  ['[]', 2],
  ['[1,2,3]', 4],
  ['{"a":1,"b":[2]}', 4],
  ['[",,,","[["]', 3],
  ['[{},{},{}]', 7],
])('%s has %d values: the value itself, each bracket, each comma', (text, values) => {
  expect(exceededLimit(Buffer.from(text), { depth: LARGE, values })).toBeUndefined()
  expect(exceededLimit(Buffer.from(text), { depth: LARGE, values: values - 1 })).toBe(
    values === 1 ? undefined : 'values',
  )
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

test.each([
  ['values', `[${'{},'.repeat(2_700_000)}{}]`],
  ['levels', '['.repeat(8_000_000)],
])('millions of %s take time and memory for none of them', (_, text) => {
  const before = process.memoryUsage().heapUsed
  const began = process.cpuUsage()
  expect(tryJson(text)).toBeUndefined()
  expect(process.cpuUsage(began).user).toBeLessThan(1_000_000)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000)
})

const sign = fc.constantFrom(...'[]{},:"\\01-e a\u00e9'.split(''))
/** Values, members and neither. */
const entry = fc.constantFrom('1', '', '"a":[2]', '"__proto__":4', '5:6', '"b" 7', '[8, 9]', ' "\u00e9" ', '{}')
const entries = fc.array(entry, { maxLength: 3 }).map((all) => all.join(','))
const brackets = fc.constantFrom('[]', '{}', '[}', '[ ')
const enclosed = fc.tuple(brackets, entries).map(([[open, close], inner]) => `${open}${inner}${close}`)
const anyText = fc.oneof({ weight: 3, arbitrary: enclosed }, fc.json(), fc.string({ unit: sign, maxLength: 12 }))

test('in steps, any text is parsed as it is at once', async () => {
  const isSame = fc.asyncProperty(anyText, fc.integer({ min: 1, max: 4 }), async (text, length) => {
    const bytes = Buffer.from(text)
    expect(await parseInSteps(bytes, LIMITS.json, length)).toEqual(tryJson(bytes))
  })
  await fc.assert(isSame, { seed: 5, numRuns: 3000, examples: [['{"same":1,"same":[1,2,3]}', 1]] })
})

test('other work is done between the steps', async () => {
  const texts: string[] = []
  const parsed = parseInSteps(Buffer.from(`[${'"abcdefg",'.repeat(100)}0]`), LIMITS.json, 100).then(() =>
    texts.push('parsed'),
  )
  for (let turn = 0; turn < 5; turn += 1) {
    await setImmediate()
    texts.push('other work')
  }
  await parsed
  expect(texts).toEqual([...Array.from({ length: 5 }, () => 'other work'), 'parsed'])
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

test('moments are converted by their key, in maps and lists as well', () => {
  const noon = Date.UTC(2026, 2, 1, 12)
  expect(
    toApiJson({
      at: noon,
      votedAt: null,
      oldestEntryAt: new Map([['bft', noon]]),
      flat: noon,
      list: [{ endedAt: noon }],
      farAt: 9e15,
      height: 2n ** 63n,
    }),
  ).toEqual({
    at: '2026-03-01T12:00:00.000Z',
    votedAt: null,
    oldestEntryAt: { bft: '2026-03-01T12:00:00.000Z' },
    flat: noon,
    list: [{ endedAt: '2026-03-01T12:00:00.000Z' }],
    farAt: null,
    height: '9223372036854775808',
  })
})
