import { expect, test } from 'vitest'
import { createRoundLog } from '../../src/collectors/consensus/round-log.ts'
import type { ConsensusEvent } from '../../src/parsers/consensus-log.ts'

const OWN = `02${'aa'.repeat(32)}`
const OTHER = `03${'bb'.repeat(32)}`
const T0 = Date.UTC(2026, 2, 1, 12)
const NONE: ReadonlySet<bigint> = new Set()

const closed = (round: bigint, by: 'qc' | 'tc' = 'qc'): ConsensusEvent => {
  return { level: 'DEBUG', event: 'round_closed', by, round, epoch: 7n }
}
const proposal = (round: bigint, author: string, blockRound = round): ConsensusEvent => {
  return { level: 'DEBUG', event: 'proposal', round, author, blockRound }
}

/** When round 141 would start. */
const NEXT_AT = T0 + 40 * 400

/** Rounds 101 to 140 of 400 ms each; the node leads each tenth one and proposes 45 ms after its start. Then more, so late. */
const usualLog = (...more: readonly (readonly [event: ConsensusEvent, ms: number])[]) => {
  const log = createRoundLog()
  for (let round = 101n; round <= 140n; round += 1n) {
    const at = T0 + Number(round - 101n) * 400
    log.add(closed(round - 1n), at)
    log.add(proposal(round, round % 10n === 0n ? OWN : OTHER), at + 45)
  }
  for (const [event, ms] of more) log.add(event, NEXT_AT + ms)
  return log
}

const read = (log: ReturnType<typeof createRoundLog>, round: bigint, at = NEXT_AT + 1000) =>
  log.read({ round, at, ownKey: OWN, ownMissed: NONE })

test('a round that this node led in time and that a timeout closed', () => {
  const log = usualLog([closed(140n), 0], [proposal(141n, OWN), 50], [closed(141n, 'tc'), 1010])
  expect(read(log, 141n)).toEqual({
    // Lines are noted once a second.
    silentMs: 1410,
    enteredBy: 'qc',
    previousMs: 400,
    usualPreviousMs: 400,
    proposalMs: 50,
    usualProposalMs: 45,
    isReproposal: false,
    closedMs: 1010,
    closedBy: 'tc',
    obstacle: null,
    // Rounds 116 to 140; those after it have not ended.
    others: { closed: 25, timedOut: 0 },
  })
})

test('what closed a round is the certificate with which the next one was entered', () => {
  const log = usualLog([closed(140n), 0], [closed(142n, 'tc'), 1400])
  expect(read(log, 140n)).toMatchObject({ closedMs: 400, closedBy: 'qc' })
  // The next round that was entered is 143.
  expect(read(log, 141n)).toMatchObject({ closedMs: null, closedBy: null })
})

test('a proposal of another leader is not the own one, and one with the block of another round is a reproposal', () => {
  const log = usualLog([closed(140n), 0], [proposal(141n, OTHER), 50], [closed(149n), 1000])
  expect(read(log, 141n)).toMatchObject({ proposalMs: null, closedMs: null })
  log.add(closed(141n, 'tc'), NEXT_AT + 1000)
  log.add(proposal(142n, OWN, 141n), NEXT_AT + 1040)
  log.add(closed(149n), NEXT_AT + 5000)
  expect(read(log, 142n)).toMatchObject({ enteredBy: 'tc', proposalMs: 40, isReproposal: true })
})

test('a round that ended before it was entered was not entered', () => {
  const log = usualLog([closed(141n, 'tc'), 900])
  expect(read(log, 141n, NEXT_AT + 500)).toMatchObject({ enteredBy: null, closedMs: null })
  // The certificates of both rounds came together.
  log.add(closed(142n), NEXT_AT + 999)
  log.add(closed(149n), NEXT_AT + 5000)
  expect(read(log, 142n)).toMatchObject({ enteredBy: null })
})

test('a node without a line is silent until its next line; without one the log may not have been read', () => {
  const log = usualLog()
  expect(read(log, 150n, NEXT_AT + 5000)).toBe(null)
  log.add(closed(170n), NEXT_AT + 20_000)
  expect(read(log, 150n, NEXT_AT + 5000)).toMatchObject({ enteredBy: null, silentMs: 20_400 })
})

test('obstacles are those of the round', () => {
  const log = usualLog(
    [{ level: 'WARN', event: 'parent_missing', round: 141n }, 0],
    [{ level: 'WARN', event: 'execution_lagging', round: 142n }, 400],
    [{ level: 'WARN', event: 'execution_lagging', round: null }, 800],
    [closed(149n), 5000],
  )
  expect(read(log, 141n)?.obstacle).toBe('parent')
  expect(read(log, 142n)?.obstacle).toBe('execution')
  expect(read(log, 143n)?.obstacle).toBe(null)
})

test('other leaders: own missed rounds are left out', () => {
  const log = usualLog()
  for (let round = 140n; round <= 160n; round += 1n)
    log.add(closed(round, round % 5n === 0n ? 'tc' : 'qc'), NEXT_AT + Number(round - 140n) * 1000)
  const question = { round: 141n, at: NEXT_AT + 1000, ownKey: OWN }
  // 116 to 160 without 141: 140, 145, 150, 155 and 160 timed out.
  expect(log.read({ ...question, ownMissed: NONE })?.others).toEqual({ closed: 44, timedOut: 5 })
  expect(log.read({ ...question, ownMissed: new Set([141n, 150n]) })?.others).toEqual({ closed: 43, timedOut: 4 })
})

test('what is not in the log is unknown: before its first line, near dropped lines, and without DEBUG', () => {
  const log = usualLog([closed(140n), 0], [closed(149n), 5000])
  expect(read(log, 90n, T0 - 1000)).toBe(null)
  log.addDropped(NEXT_AT + 10_001)
  expect(read(log, 141n)).not.toBe(null)
  log.addDropped(NEXT_AT + 10_000)
  expect(read(log, 141n)).toBe(null)
  expect(read(createRoundLog(), 141n)).toBe(null)
})
