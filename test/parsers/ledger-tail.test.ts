import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ParseError } from '../../src/core/errors.ts'
import { parseLedgerLine } from '../../src/parsers/ledger-tail.ts'

const A = `02${'a1'.repeat(32)}`
const B = `03${'b2'.repeat(32)}`
const line = (fields: object, rest: object = {}): string =>
  JSON.stringify({
    timestamp: '2026-03-01T10:00:00.000001Z',
    level: 'INFO',
    fields,
    target: 'ledger_tail',
    ...rest,
  })

const proposed = {
  message: 'proposed_block',
  round: '9001',
  parent_round: '9000',
  epoch: '12',
  seq_num: '8700',
  num_tx: '31',
  author: A,
  block_ts_ms: '1772359200100',
  now_ts_ms: '1772359200160',
  author_address: '',
}

const understood = {
  event: 'proposed',
  timestamp: '2026-03-01T10:00:00.000001Z',
  level: 'INFO',
  authorAddress: null,
  round: 9001n,
  parentRound: 9000n,
  epoch: 12n,
  seqNum: 8700n,
  transactions: 31n,
  author: A,
  blockAt: 1772359200100,
  writtenAt: 1772359200160,
}

describe('every version', () => {
  test('v0.14 and later: an empty address is unknown', () => {
    expect(parseLedgerLine(line(proposed))).toEqual(understood)
    const { author_address: _, ...without } = proposed
    expect(parseLedgerLine(line(without))).toEqual(understood)
  })
  test('the address of the author', () => {
    expect(parseLedgerLine(line({ ...proposed, author_address: '192.0.2.7:8000' }))).toEqual({
      ...understood,
      authorAddress: '192.0.2.7:8000',
    })
  })
  test('another level, or no timestamp, is the same event', () => {
    expect(parseLedgerLine(line(proposed, { level: 'WARN', timestamp: undefined }))).toEqual({
      ...understood,
      level: 'WARN',
      timestamp: null,
    })
  })
  test('v0.9: author_dns, and no epoch at first', () => {
    const { epoch: _, author_address: __, ...old } = proposed
    expect(parseLedgerLine(line({ ...old, author_dns: 'v.example:8000' }))).toEqual({
      ...understood,
      epoch: null,
      authorAddress: 'v.example:8000',
    })
  })
  test('v0.10.0 to v0.10.3: no parent_round', () => {
    const { parent_round: _, ...old } = proposed
    expect(parseLedgerLine(line(old))).toEqual({ ...understood, parentRound: null })
  })
  test('finalized_block has no num_tx', () => {
    const { num_tx: _, ...rest } = proposed
    const { transactions: __, ...expected } = understood
    expect(parseLedgerLine(line({ ...rest, message: 'finalized_block' }))).toEqual({
      ...expected,
      event: 'finalized',
    })
  })
  test('timeout, and skipped_block before v0.10.4', () => {
    const said = { round: '9002', author: B, now_ts_ms: '1772359201200' }
    const expected = {
      event: 'timeout',
      timestamp: '2026-03-01T10:00:00.000001Z',
      level: 'INFO',
      round: 9002n,
      author: B,
      authorAddress: null,
      writtenAt: 1772359201200,
    }
    expect(parseLedgerLine(line({ message: 'timeout', ...said, author_address: '' }))).toEqual(expected)
    expect(parseLedgerLine(line({ message: 'skipped_block', ...said, author_dns: '' }))).toEqual(expected)
  })
  test('numbers instead of strings', () => {
    expect(parseLedgerLine(line({ ...proposed, round: 9001, num_tx: 31 }))).toEqual(understood)
  })
  test('a key in capitals and with 0x is the same key', () => {
    expect(parseLedgerLine(line({ ...proposed, author: `0x${A.toUpperCase()}` }))).toEqual(understood)
  })
  test('2^63 keeps every digit; the sentinel 2^64-1 is no round', () => {
    const big = parseLedgerLine(line({ ...proposed, round: '9223372036854775809' }))
    expect(big).toMatchObject({ round: 9223372036854775809n })
    expect(() => parseLedgerLine(line({ ...proposed, round: '18446744073709551615' }))).toThrow(ParseError)
  })
})

test.each([
  ['a warning of the same program', line({ message: 'files come fast' }, { level: 'WARN' })],
  ['a line of another program', line(proposed, { target: 'other_program' })],
  ['the first line of a panic', "thread 'main' panicked at examples/ledger-tail.rs:99:5:"],
  ['what systemd says of the unit', 'Started chain-ledger-tail.service - ledger stream.'],
  ['nothing', ''],
])('passes over %s', (_, text) => {
  expect(parseLedgerLine(text)).toBeNull()
})

test.each([
  ['a line cut off', line(proposed).slice(0, 150)],
  ['a message that we do not know', line({ ...proposed, message: 'voted_block' })],
  ['a field that is missing', line({ ...proposed, seq_num: undefined })],
  ['a negative number', line({ ...proposed, round: '-1' })],
  ['a fraction', line({ ...proposed, num_tx: '3.5' })],
  ['a key that is too short', line({ ...proposed, author: 'abc' })],
  ['seconds in the place of microseconds', line({ ...proposed, now_ts_ms: '1772359200160000' })],
])('complains of %s', (_, text) => {
  expect(() => parseLedgerLine(text)).toThrow(ParseError)
})

test('the error names what was expected and shows what came', () => {
  expect(() => parseLedgerLine(line({ ...proposed, round: 'x' }))).toThrowErrorMatchingInlineSnapshot(`
      [ParseError: Could not parse a line of the ledger stream: expected a good fields.round (expected an unsigned 64-bit integer)
        input: {"timestamp":"2026-03-01T10:00:00.000001Z","level":"INFO","fields":{"message":"proposed_block","round":"x","parent_round":"9000","epoch":"12","seq_num":"8700","num_tx":"31","author":"02a1a1a1a1a1a1a1a…]
    `)
})

test('a whole recorded minute of every version: nothing is left over', () => {
  const text = readFileSync(new URL('../fixtures/ledger-tail/versions.jsonl', import.meta.url), 'utf8')
  const events = text.trim().split('\n').map(parseLedgerLine)
  // Counted by hand in the fixture: 5 proposed, 2 finalized, 2 timeouts, 2 lines that are not the stream's.
  const kinds = events.map((event) => event?.event ?? 'none')
  expect(kinds.toSorted()).toEqual([
    'finalized',
    'finalized',
    'none',
    'none',
    'proposed',
    'proposed',
    'proposed',
    'proposed',
    'proposed',
    'timeout',
    'timeout',
  ])
})

test('an unknown message at an unknown level is unparsed', () => {
  expect(() => parseLedgerLine(line({ message: 'voted_block' }, { level: 'NOTICE' }))).toThrow(ParseError)
})

/** Values of each type, at the limits of each field and beyond them. */
const VALUES: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  1,
  -1,
  1.5,
  2 ** 53,
  1772359200160,
  [],
  {},
  ['1'],
  ...'|x|-1|+1|3.5|1e3|0x10|1_0| 1|1 |1\n|\u0661|0|1|00000000000000000001|000000000000000000001'.split('|'),
  ...'9223372036854775806|9223372036854775807|18446744073709551614|18446744073709551615|99999999999999999999'.split(
    '|',
  ),
  ...'1420070399999|1420070400000|4102444800000|4102444800001|1772359260160|1772359260161|192.0.2.7:8000'.split('|'),
  ...`${A.slice(1)}|${A}a|0x${A}|0X${A}|${A.toUpperCase()}|${A}\n|${'x'.repeat(5000)}`.split('|'),
  ...'proposed_block|finalized_block|timeout|skipped_block|voted_block|toString'.split('|'),
]

/** The event of a line without a timestamp, which only the schema reads; an error by what was expected. */
const parsed = (text: string): unknown => {
  try {
    const event = parseLedgerLine(text)
    return event && { ...event, timestamp: null }
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    return error.summary
  }
}
const withoutTimestamp = (text: string): string => JSON.stringify({ ...JSON.parse(text), timestamp: null })

test.each(['proposed_block', 'finalized_block', 'timeout', 'skipped_block'])(
  '%s: a line of the usual form is read as the schema reads it, whatever value one of its fields has',
  (message) => {
    for (const value of VALUES) {
      for (const field of [...Object.keys(proposed), 'author_dns', '__proto__']) {
        const text = line({ ...proposed, message, [field]: value })
        expect(parsed(text), text).toEqual(parsed(withoutTimestamp(text)))
      }
      for (const field of ['level', 'target', 'fields']) {
        const text = line({ ...proposed, message }, { [field]: value })
        expect(parsed(text), text).toEqual(parsed(withoutTimestamp(text)))
      }
    }
  },
)

test('the recorded lines are read as the schema reads them', () => {
  const text = readFileSync(new URL('../fixtures/ledger-tail/versions.jsonl', import.meta.url), 'utf8')
  const lines = text.split('\n').filter((one) => one.startsWith('{'))
  expect(lines.map(parsed)).toEqual(lines.map((one) => parsed(withoutTimestamp(one))))
})
