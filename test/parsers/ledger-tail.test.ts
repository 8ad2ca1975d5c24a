import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
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

const without = (...names: readonly (keyof typeof proposed)[]) =>
  Object.fromEntries(Object.entries(proposed).filter(([name]) => !names.some((one) => one === name)))
const timeout = { round: '9002', author: B, now_ts_ms: '1772359201200' }
const { transactions: _transactions, ...finalized } = understood
const timedOut = {
  event: 'timeout',
  timestamp: '2026-03-01T10:00:00.000001Z',
  level: 'INFO',
  round: 9002n,
  author: B,
  authorAddress: null,
  writtenAt: 1772359201200,
}

test.each([
  ['v0.14 and later: an empty address is unknown', line(proposed), understood],
  ['no address', line(without('author_address')), understood],
  [
    'the address of the author',
    line({ ...proposed, author_address: '192.0.2.7:8000' }),
    { ...understood, authorAddress: '192.0.2.7:8000' },
  ],
  [
    'another level, or no timestamp, is the same event',
    line(proposed, { level: 'WARN', timestamp: undefined }),
    { ...understood, level: 'WARN', timestamp: null },
  ],
  [
    'v0.9: author_dns, and no epoch at first',
    line({ ...without('epoch', 'author_address'), author_dns: 'v.example:8000' }),
    { ...understood, epoch: null, authorAddress: 'v.example:8000' },
  ],
  ['v0.10.0 to v0.10.3: no parent_round', line(without('parent_round')), { ...understood, parentRound: null }],
  [
    'finalized_block has no num_tx',
    line({ ...without('num_tx'), message: 'finalized_block' }),
    { ...finalized, event: 'finalized' },
  ],
  ['timeout', line({ message: 'timeout', ...timeout, author_address: '' }), timedOut],
  ['skipped_block before v0.10.4', line({ message: 'skipped_block', ...timeout, author_dns: '' }), timedOut],
  ['numbers instead of strings', line({ ...proposed, round: 9001, num_tx: 31 }), understood],
  ['a key in capitals and with 0x is the same key', line({ ...proposed, author: `0x${A.toUpperCase()}` }), understood],
  [
    '2^63 keeps every digit',
    line({ ...proposed, round: '9223372036854775809' }),
    { ...understood, round: 9223372036854775809n },
  ],
])('%s', (_, text, expected) => {
  expect(parseLedgerLine(text)).toEqual(expected)
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
  ['such a message at an unknown level', line({ message: 'voted_block' }, { level: 'NOTICE' })],
  ['a field that is missing', line({ ...proposed, seq_num: undefined })],
  ['the sentinel 2^64-1, which is no round', line({ ...proposed, round: '18446744073709551615' })],
  ['a negative number', line({ ...proposed, round: '-1' })],
  ['a fraction', line({ ...proposed, num_tx: '3.5' })],
  ['a key that is too short', line({ ...proposed, author: 'abc' })],
  ['seconds in the place of microseconds', line({ ...proposed, now_ts_ms: '1772359200160000' })],
])('complains of %s', (_, text) => {
  expect(() => parseLedgerLine(text)).toThrow(ParseError)
})

test('a whole recorded minute of every version: nothing is left over', () => {
  const text = readFileSync(new URL('../fixtures/ledger-tail/versions.jsonl', import.meta.url), 'utf8')
  const events = text.trim().split('\n').map(parseLedgerLine)
  // Counted by hand in the fixture: 5 proposed, 2 finalized, 2 timeouts, 2 lines that are not the stream's.
  const countOf = (kind: string) => events.filter((event) => (event?.event ?? 'none') === kind).length
  expect(['proposed', 'finalized', 'timeout', 'none'].map(countOf)).toEqual([5, 2, 2, 2])
})
