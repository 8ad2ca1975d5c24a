import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ParseError } from '../../src/core/errors.ts'
import { CONSENSUS_LOG_PATTERN, parseConsensusLine } from '../../src/parsers/consensus-log.ts'
import { MESSAGES } from '../../src/parsers/consensus-messages.ts'

const fixture = z.object({ line: z.string(), is: z.record(z.string(), z.unknown()) })
const messages = readFileSync(new URL('../fixtures/consensus-log/messages.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => fixture.parse(JSON.parse(line)))

/** JSON has no integers of 64 bits: they stand as text in the fixture. */
const asText = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}` : part)))

interface Line {
  readonly level?: string
  readonly target?: string
  readonly [field: string]: unknown
}
const line = (message: string, { level = 'DEBUG', target, ...fields }: Line = {}): string =>
  JSON.stringify({
    timestamp: '2026-05-02T08:00:00.1Z',
    level,
    fields: { message, ...fields },
    target: target ?? 'a_consensus_state',
  })

test.each(messages)('$line', ({ line: text, is }) => {
  expect(asText(parseConsensusLine(text))).toEqual(is)
})

test('with any name prefix', () => {
  for (const { line: text, is } of messages) {
    expect(asText(parseConsensusLine(text.replaceAll('chain_', 'maker_')))).toEqual(is)
    expect(asText(parseConsensusLine(text.replaceAll('chain-bft', 'maker-bft')))).toEqual(is)
  }
})

test('the pattern for journalctl lets every one of them through, and no noise', () => {
  const pattern = new RegExp(CONSENSUS_LOG_PATTERN)
  for (const { line: text } of messages) expect(text).toMatch(pattern)
  for (const message of MESSAGES.keys()) expect(line(message)).toMatch(pattern)
  expect(CONSENSUS_LOG_PATTERN).toMatch(/[A-Z]/) // without a capital letter it would ignore case
  expect(line('vote message')).not.toMatch(pattern)
  for (const unused of ['vote successful', 'remote timeout message', 'received statesync request, num pending 3'])
    expect(line(unused)).not.toMatch(pattern)
  expect(line('blocksync: pick_peer among 3 validator')).not.toMatch(pattern)
})

describe('ignores', () => {
  test.each([
    ['noise', line('vote message', { vote: '\\"message\\":\\"committed block' })],
    ['a message that nothing uses', line('vote successful', { vote: 'Vote { .. }' })],
    ['serving other nodes', line('received statesync request, num pending 3, in progress 1')],
    ['noise cut off', line('vote message').slice(0, 90)],
    ['the words in another target', line('sending request', { target: 'a_peer_discovery' })],
    ['the words of a ledger that is none', line('committed block', { target: 'a_ledgers' })],
    ['a message without one', '{"level":"INFO","fields":{},"target":"a"}'],
    ['the second line of a panic', 'index out of bounds: the len is 3'],
    ['what systemd says', 'Started chain-bft.service - consensus.'],
    ['nothing', ''],
  ])('%s', (_, text) => {
    expect(parseConsensusLine(text)).toBeNull()
  })
})

test('a known message of another component still counts as a warning', () => {
  const text = line('sending request', { level: 'WARN', target: 'a_peer_discovery' })
  expect(parseConsensusLine(text)).toEqual({ level: 'WARN', event: 'other' })
})

test('spaces in the JSON change nothing', () => {
  const text = '{"level": "INFO", "fields": {"message": "committed block", "block_num": 5}, "target": "a_ledger"}'
  expect(parseConsensusLine(text)).toEqual({
    level: 'INFO',
    event: 'committed_block',
    block: 5n,
  })
})

test.each([
  ['a known message cut off', line('local timeout', { round: '5' }).slice(0, 110)],
  ['no level that we know', line('local timeout', { round: '5', level: 'LOUD' })],
  ['a certificate of a new kind', line('advancing round', { certificate: 'Nc(epoch: 1, round: 2)' })],
  ['a block that is none', line('committed block', { target: 'a_ledger', block_num: '-3' })],
  ['the mark for unknown', line('local timeout', { round: '18446744073709551615' })],
  ['a proposal without a round', line('proposal message', { proposal: 'Proposal { .. }' })],
])('complains of %s', (_, text) => {
  expect(() => parseConsensusLine(text)).toThrow(ParseError)
})
