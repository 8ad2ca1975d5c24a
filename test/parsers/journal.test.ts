import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ParseError } from '../../src/core/errors.ts'
import {
  createLineJoiner,
  type JournalEntry,
  MAX_PARTS,
  newestLines,
  parseJournalEntry,
  withoutPrintedPrefix,
} from '../../src/parsers/journal.ts'

const entry = (fields: object): string =>
  JSON.stringify({ __CURSOR: 's=1;i=2', __REALTIME_TIMESTAMP: '1772359200123456', ...fields })

test('cursor, time and message; the time is cut to milliseconds', () => {
  expect(parseJournalEntry(entry({ MESSAGE: 'hello', _SYSTEMD_UNIT: 'a.service' }))).toMatchObject({
    cursor: 's=1;i=2',
    at: 1_772_359_200_123,
    unit: 'a.service',
    message: 'hello',
  })
})

test.each([
  ['null, for a message over 4096 bytes without --all', null, null],
  ['bytes, for colours', [27, 91, 51, 49, 109, 104, 105], 'hi'],
  ['bytes that are no UTF-8', [104, 255, 105], 'h\uFFFDi'],
  ['several values', ['one', [116, 119, 111]], 'one\ntwo'],
  ['several lines in one', 'first\nsecond\tend', 'first\nsecond\tend'],
  ['an empty list', [], ''],
  ['a number', 7, null],
])('MESSAGE as %s', (_, came, expected) => {
  expect(parseJournalEntry(entry({ MESSAGE: came })).message).toBe(expected)
})

test('no MESSAGE at all', () => {
  expect(parseJournalEntry(entry({})).message).toBeNull()
})

test('messages of systemd or journald about a unit belong to that unit', () => {
  const ofSystemd = { _SYSTEMD_UNIT: 'init.scope', UNIT: 'a.service' }
  const ofJournald = { _SYSTEMD_UNIT: 'systemd-journald.service', OBJECT_SYSTEMD_UNIT: 'b.service' }
  expect(parseJournalEntry(entry(ofSystemd)).unit).toBe('a.service')
  expect(parseJournalEntry(entry(ofJournald)).unit).toBe('b.service')
})

test.each(['', 'invalid', '[]', '{}', entry({ __CURSOR: undefined }), entry({ __REALTIME_TIMESTAMP: 'soon' })])(
  '%j is no entry',
  (line) => {
    expect(() => parseJournalEntry(line)).toThrow(ParseError)
  },
)

test('no line makes it throw anything but a ParseError', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), fc.dictionary(fc.string(), fc.jsonValue()).map(entry)), (line) => {
      try {
        parseJournalEntry(line)
      } catch (error) {
        expect(error).toBeInstanceOf(ParseError)
      }
    }),
    { seed: 5 },
  )
})

const part = (message: string, fields: Record<string, string> = {}, at = 1): JournalEntry => ({
  cursor: `c${at}`,
  at,
  unit: 'a.service',
  message,
  fields,
})

test('a line of 100 KiB comes in three parts and is one again, with the time of its first', () => {
  const { join } = createLineJoiner()
  const cut = { _LINE_BREAK: 'line-max', _STREAM_ID: 's1' }
  expect(join(part('a'.repeat(49_152), cut, 1))).toBeUndefined()
  expect(join(part('b'.repeat(49_152), cut, 2))).toBeUndefined()
  const whole = join(part('c'.repeat(4096), { _STREAM_ID: 's1' }, 3))
  expect(whole).toMatchObject({ at: 1, cursor: 'c3' })
  expect(whole?.message).toBe('a'.repeat(49_152) + 'b'.repeat(49_152) + 'c'.repeat(4096))
})

test('lines of two programs are not mixed, and reading does not stop within a line', () => {
  const joiner = createLineJoiner()
  expect(joiner.isWaiting).toBe(false)
  joiner.join(part('left ', { _LINE_BREAK: 'line-max', _STREAM_ID: 's1' }))
  expect(joiner.isWaiting).toBe(true)
  expect(joiner.join(part('other', { _STREAM_ID: 's2' }))?.message).toBe('other')
  expect(joiner.join(part('right', { _STREAM_ID: 's1' }))?.message).toBe('left right')
  expect(joiner.isWaiting).toBe(false)
})

test('a line without an end does not use unlimited memory', () => {
  const { join } = createLineJoiner()
  const cut = { _LINE_BREAK: 'line-max', _STREAM_ID: 's1' }
  const joined = Array.from({ length: 40 }, () => join(part('x'.repeat(49_152), cut)))
  expect(joined.filter((one) => one !== undefined).length).toBeGreaterThan(0)
})

test('of 65 processes with an incomplete line, that of the last one is dropped, and counted', () => {
  const { join, takeLostCount } = createLineJoiner()
  const streamOf = (index: number) => `s${index}`
  for (let index = 0; index < 65; index += 1) join(part('a ', { _LINE_BREAK: 'line-max', _STREAM_ID: streamOf(index) }))
  expect(takeLostCount()).toBe(1)
  const ends = [63, 64].map((index) => join(part('end', { _STREAM_ID: streamOf(index) }))?.message)
  expect(ends).toEqual(['a end', 'end'])
})

test('a line whose end never arrives is dropped and does not block', () => {
  const joiner = createLineJoiner()
  joiner.join(part('cut ', { _LINE_BREAK: 'line-max', _STREAM_ID: 'dead' }, 1000))
  joiner.join(part('other', { _STREAM_ID: 's2' }, 11_000))
  expect([joiner.isWaiting, joiner.takeLostCount()]).toEqual([true, 0])
  joiner.join(part('other', { _STREAM_ID: 's2' }, 11_001))
  expect([joiner.isWaiting, joiner.takeLostCount(), joiner.takeLostCount()]).toEqual([false, 1, 0])
})

test('the rest of a line that is too long, or has begun before the newest, is nothing by itself', () => {
  const { join } = createLineJoiner()
  const cut = { _LINE_BREAK: 'line-max', _STREAM_ID: 's1' }
  const parts = Array.from({ length: 30 }, () => part('x'.repeat(49_152), cut))
  const rest = part('rest', { _STREAM_ID: 's1' })
  const next = part('next', { _STREAM_ID: 's1' })
  const joined = [...parts, rest, next].map((one) => join(one)?.message?.length)
  expect(joined.filter((length) => length !== undefined)).toEqual([22 * 49_152, 4])

  const more = Array.from({ length: MAX_PARTS }, () => part('x', { ...cut, _STREAM_ID: 's2' }))
  expect(newestLines([rest, ...more], 1)).toEqual([])
  expect(newestLines([rest, ...more], 2)).toEqual([rest])
})

test.each([
  'May  2 08:00:01 host-b chain-node[811]: ',
  'Nov 12 08:00:01 host-b.example chain[7]: ',
  'May 02 08:00:01.123456 host-b chain-ledger-tail[811]: ',
  '2026-05-02T08:00:01+0000 host-b chain-node[811]: ',
  '2026-05-02T08:00:01.123456Z host-b systemd[1]: ',
  '2026-05-02T08:00:01.123456+00:00 host-b chain-node[811]: ',
  'Sat 2026-05-02 08:00:01 UTC host-b chain-node[811]: ',
  'Sat 2026-05-02 10:00:01 CEST host-b chain-bft.service[811]: ',
  'Sat 2026-05-02 13:00:01 +05 host-b chain-bft.service[811]: ',
  '1777708801.123456 host-b chain-node[811]: ',
  '[  811.123456] host-b chain-node[811]: ',
  '[  811.123456 <    0.000012>] host-b chain-node[811]: ',
  'May  2 08:00:01 chain-node[811]: ',
])('the prefix that journalctl prints is removed: %s', (head) => {
  expect(withoutPrintedPrefix(`${head}{"level":"INFO"}`)).toBe('{"level":"INFO"}')
})

test.each(['2026-05-02 08:00:01.204411902 [7] a.cpp:1 LOG_INFO\tx', '{"a":"May  2 08:00:01 host b: c"}', 'Mayor: x'])(
  'a line without that prefix stays as it is: %s',
  (line) => {
    expect(withoutPrintedPrefix(line)).toBe(line)
  },
)

test('colours are no part of a line, neither around it nor in a text of JSON', () => {
  const plain = '{"level":"INFO","fields":{"message":"a [1m] b"}}'
  const colored =
    '\u001B[1;31mMay  2 08:00:01 host-b chain-node[811]: \u001B[0m{"level":"\\u001b[32mINFO\\u001B[0m","fields":{"message":"a [1m] b"}}'
  expect(withoutPrintedPrefix(colored)).toBe(plain)
  for (const MESSAGE of [colored, [...Buffer.from(colored)]]) {
    const { message } = parseJournalEntry(entry({ MESSAGE }))
    expect(withoutPrintedPrefix(message ?? '')).toBe(plain)
  }
  // An entry of `journalctl -o json` whose message is JSON stays as it is.
  const within = JSON.stringify({ MESSAGE: '{"more":"\\u001b[31m"}' })
  expect(withoutPrintedPrefix(within)).toBe(within)
})
