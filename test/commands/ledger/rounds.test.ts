import { expect, test } from 'vitest'
import { createRounds, type LedgerRow } from '../../../src/commands/ledger/ledger.ts'
import { parseLedgerLine } from '../../../src/parsers/ledger-tail.ts'
import { OWN, proposed, timeout } from './stream.ts'

const short = (row: LedgerRow): string => {
  if ('kind' in row) return `${row.kind} ${row.from}-${row.to}`
  return `${row.event} ${row.round}${row.isOwn ? ' own' : ''}`
}
const read = (lines: readonly string[]) => {
  const rounds = createRounds(OWN)
  const events = lines.flatMap((line) => parseLedgerLine(line) ?? [])
  return { rows: events.flatMap(rounds.add).map(short), summary: rounds.summary() }
}

test('rounds without a block stand before the block that shows them, each once', () => {
  const { rows, summary } = read([
    proposed(201, { seq: 51 }),
    timeout(203),
    proposed(206, { parent: 201, seq: 52, author: OWN }),
    proposed(207, { parent: 201, seq: 52 }),
    proposed(208, { parent: 207, seq: 53 }),
  ])
  expect(rows).toEqual([
    'proposed 201',
    'timeout 203',
    'skipped 202-202',
    'skipped 204-205',
    'proposed 206 own',
    'proposed 207',
    'proposed 208',
  ])
  expect(summary).toMatchObject({
    blocks: 4,
    skipped: 4n,
    unseen: 0n,
    transactions: 48n,
    firstRound: 201n,
    lastRound: 208n,
    firstBlock: 51n,
    lastBlock: 53n,
    own: { blocks: 1, timeouts: 0 },
  })
})

test('where the parent is left out, numbers that follow one another tell it', () => {
  const { rows } = read([
    proposed(201, { parent: null, seq: 51 }),
    proposed(203, { parent: null, seq: 52 }),
    proposed(210, { parent: null, seq: 58 }),
  ])
  expect(rows).toEqual(['proposed 201', 'skipped 202-202', 'proposed 203', 'unseen 204-209', 'proposed 210'])
})

test('what is told again is shown once, and old blocks make no gaps', () => {
  const blocks = [201, 202, 203, 204].map((round) => proposed(round))
  const { rows } = read([...blocks, proposed(200, { parent: 190 }), ...blocks, proposed(205)])
  expect(rows.slice(4)).toEqual(['proposed 200', 'proposed 205'])
})

test('timeouts that no block has come after are skipped rounds, too; own ones are counted', () => {
  const { rows, summary } = read([proposed(201), timeout(202, OWN), timeout(203), timeout(203)])
  expect(rows).toEqual(['proposed 201', 'timeout 202 own', 'timeout 203'])
  expect(summary).toMatchObject({ skipped: 2n, own: { blocks: 0, timeouts: 1 }, lastRound: 203n })
  expect(createRounds(null).summary().own).toBeNull()
})
