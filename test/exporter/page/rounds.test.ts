import { expect, test } from 'vitest'
import type { RecentRound } from '../../../src/domain/round.ts'
import { renderRounds } from '../../../src/exporter/page/rounds.ts'

const NOON = Date.UTC(2026, 2, 1, 12)
const LEADER = `02ab${'00'.repeat(30)}cdef`
const round = (number: number, state: RecentRound['state'], isOwn: boolean | null = false): RecentRound => ({
  round: BigInt(number),
  state,
  leader: state === 'skipped' ? null : LEADER,
  at: NOON,
  isOwn,
})
const shown = (rounds: readonly RecentRound[], laterMs = 0, roundsUnknownBecause: string | null = null): string =>
  renderRounds({ rounds, roundsUnknownBecause, at: NOON + laterMs }).toString()

const ROUNDS = [
  round(70_123, 'finalized'),
  round(70_124, 'timed out', true),
  round(70_125, 'skipped', null),
  round(70_126, 'proposed', true),
]

test('each state has a shape of its own, at the right end of the strip, and an own round a mark', () => {
  const html = shown(ROUNDS)
  // Four of 120 columns of 8 units: the first at 116 × 8 = 928.
  for (const path of [
    '<path class="finalized" d="M929 7v24h6v-24z" />',
    '<path class="timed-out" d="M937 7h6v5h-6zm0 19h6v5h-6z" />',
    '<path class="skipped" d="M945 7m0 21v3h6v-3z" />',
    '<path class="proposed" d="M953 7m0 12v12h6v-12z" />',
    '<path class="own" d="M936 0h8l-4 5zM952 0h8l-4 5z" />',
  ])
    expect(html).toContain(path)
  expect(html).toContain('data-first="116"')
})

test('the same in words: a sentence, and each round that is no ordinary one', () => {
  const html = shown(ROUNDS)
  expect(html).toContain(
    'Rounds 70,123 to 70,126: 1 finalized, 1 proposed, 1 timed out and 1 skipped. 2 own rounds, 1 timed out.',
  )
  expect(html).toContain('3 rounds without a block, or led by this node')
  expect(html).toContain('<li>Round 70,124: timed out, led by this node, 2026-03-01T12:00:00Z</li>')
  expect(html).toContain('<li>Round 70,125: skipped, 2026-03-01T12:00:00Z</li>')
  expect(html).toContain('data-texts="Round 70,123: finalized, led by 02ab..cdef, 2026-03-01T12:00:00Z;Round 70,124')
  expect(html).not.toContain('<li>Round 70,123')
})

test('silence takes place: a column for each 2 s, a third of the strip at most', () => {
  expect(shown(ROUNDS, 4999)).not.toContain('silent')
  const minute = shown(ROUNDS, 60_000)
  // 30 of 120 columns: the strip ends at 90 × 8 = 720, and the four rounds before it begin at column 86.
  expect(minute).toContain('<path class="silent" d="M722 30H960" />')
  expect(minute).toContain('data-first="86"')
  expect(minute).toContain('<strong>The ledger stream has had none for 1 min.</strong>')
  expect(shown(ROUNDS, 3_600_000)).toContain('<path class="silent" d="M642 30H960" />')
})

test('a stream that is not read is no silence', () => {
  const html = shown(ROUNDS, 60_000, 'Could not read the journal')
  expect(html).not.toContain('silent')
  expect(html).not.toContain('has had none')
  expect(html).toContain('<strong>Later ones are unknown: Could not read the journal.</strong>')
  expect(shown([], 0, 'Could not read the journal')).toContain('Unknown: Could not read the journal.')
})

test('no more than fit are shown; none is unknown', () => {
  const many = Array.from({ length: 150 }, (_, index) => round(index + 1, 'finalized'))
  expect(shown(many)).toContain('Rounds 31 to 150: 120 finalized.')
  expect(shown(many)).toContain('Round 150: finalized, led by 02ab..cdef, 2026-03-01T12:00:00Z;"')
  expect(shown([])).toContain('Unknown: the ledger stream has reported no round yet.')
})
