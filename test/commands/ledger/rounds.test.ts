import { expect, test } from 'vitest'
import type { LedgerEvent } from '../../../src/parsers/ledger-tail.ts'
import { createRounds, type LedgerRow } from '../../../src/commands/ledger/ledger.ts'

const OWN = `02${'aa'.repeat(32)}`
const OTHER = `03${'bb'.repeat(32)}`

interface Proposal {
  readonly parent?: number | null
  readonly seq?: number
  readonly author?: string
}

const EXTRA = { timestamp: null, level: 'INFO', authorAddress: null } as const

const proposed = (round: number, proposal: Proposal = {}): LedgerEvent => {
  const { parent = round - 1, seq = round - 100, author = OTHER } = proposal
  return {
    ...EXTRA,
    event: 'proposed',
    round: BigInt(round),
    parentRound: parent === null ? null : BigInt(parent),
    epoch: 1n,
    seqNum: BigInt(seq),
    author,
    blockAt: 1000 * round,
    writtenAt: 1000 * round + 50,
    transactions: 3n,
  }
}
const timeout = (round: number, author = OTHER): LedgerEvent => ({
  ...EXTRA,
  event: 'timeout',
  round: BigInt(round),
  author,
  writtenAt: 1000 * round + 900,
})

const short = (row: LedgerRow): string => {
  if ('kind' in row) return `${row.kind} ${row.from}-${row.to}`
  return `${row.event} ${row.round}${row.isOwn ? ' own' : ''}`
}
const read = (events: readonly LedgerEvent[], key: string | null = OWN) => {
  const rounds = createRounds(key)
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
    transactions: 12n,
    firstRound: 201n,
    lastRound: 208n,
    firstBlock: 51n,
    lastBlock: 53n,
    own: { blocks: 1, timeouts: 0 },
  })
})

test('what the log does not have is not called skipped', () => {
  const { rows, summary } = read([proposed(201), proposed(250, { parent: 248 })])
  expect(rows).toEqual(['proposed 201', 'unseen 202-248', 'skipped 249-249', 'proposed 250'])
  expect(summary).toMatchObject({ skipped: 1n, unseen: 47n })
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
})

test('without a key nothing is known of our own', () => {
  const { summary } = read([proposed(201, { author: OWN })], null)
  expect(summary.own).toBeNull()
})
