import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createConsensusWindow, createRecentlySeen, kindsOf } from '../../src/collectors/consensus/window.ts'
import { CONSENSUS_KINDS } from '../../src/collectors/consensus/definition.ts'
import { type ConsensusEvent, parseConsensusLine } from '../../src/parsers/consensus-log.ts'
import { closed, committed, line, newQc, T0, timedOut, undecryptable, vote } from './consensus-log.ts'

interface TimedEvent {
  readonly at: number
  readonly event: ConsensusEvent
}

/** Ten minutes of a log, generated from a fixed seed. */
const record = (): readonly TimedEvent[] => {
  const [log = []] = fc.sample(
    fc.array(
      fc.record({
        after: fc.oneof({ weight: 40, arbitrary: fc.integer({ min: 0, max: 400 }) }, fc.integer({ min: 0, max: 9000 })),
        what: fc.integer({ min: 0, max: 10 }),
        peer: fc.integer({ min: 0, max: 40 }),
      }),
      { minLength: 3500, maxLength: 3500 },
    ),
    { seed: 7, numRuns: 1 },
  )
  let at = T0
  return log.flatMap(({ after, what, peer }, index) => {
    at += after
    const texts = [
      committed(500 + Math.floor(index / 9)),
      closed(1000 + index),
      closed(1000 + index, 'Tc'),
      newQc(1000 + index),
      timedOut(1000 + Math.floor(index / 40)),
      vote(1000 + index),
      undecryptable(`192.0.2.${peer}`),
      line('blocksync: self request', { target: 'a_blocksync' }),
      line('still syncing...', { target: 'a_state', level: 'INFO' }),
      line('proposal message', { proposal: `proposal_round: ${index}, proposal_epoch: 7 seq_num: 3` }),
      line('long time to execute commands', { level: 'ERROR' }),
    ]
    const event = parseConsensusLine(texts[what] ?? '')
    return event ? [{ at, event }] : []
  })
}

const last = <T>(all: readonly T[]): T | null => all.at(-1) ?? null

/** The same by brute force: the last 60 whole seconds, including the current one. */
const bruteForce = (log: readonly TimedEvent[], end: number) => {
  const within = (seconds: number): readonly TimedEvent[] =>
    log.filter(({ at }) => Math.floor(at / 1000) > Math.floor(end / 1000) - seconds)
  const minute = within(60).map(({ event }) => event)
  const network = within(300).flatMap(({ event }) => (event.event === 'network_error' ? [event] : []))
  const certified = minute.filter((event) => event.event === 'round_closed' || event.event === 'qc_created')
  const rounds = minute.flatMap((event) =>
    event.event === 'round_closed' || event.event === 'qc_created' || event.event === 'local_timeout'
      ? [event.round]
      : [],
  )
  const blocks = within(60).flatMap(({ event }) => (event.event === 'committed_block' ? [event.block] : []))
  const before = log
    .slice(0, log.length - within(60).length)
    .flatMap(({ event }) => (event.event === 'committed_block' ? [event.block] : []))
  const heights = [...before.slice(-1), ...blocks]
  return {
    round: last(rounds),
    epoch: last(certified.map(({ epoch }) => epoch)),
    block: last(blocks),
    advances: heights.filter((height, at) => at > 0 && height > (heights[at - 1] ?? height)).length,
    messages: Object.fromEntries(
      CONSENSUS_KINDS.map((kind) => [kind, minute.filter((event) => kindsOf(event).includes(kind)).length]),
    ),
    localTimeoutRounds: new Set(minute.flatMap((event) => (event.event === 'local_timeout' ? [event.round] : []))).size,
    networkErrors: network.length,
    networkErrorPeers: new Set(network.map(({ peer }) => peer)).size,
  }
}

test('a hundred random minutes match a count by brute force', () => {
  const log = record()
  const ends = new Set(
    fc.sample(fc.integer({ min: 1200, max: log.length - 1 }), { seed: 11, numRuns: 130 }).slice(0, 130),
  )
  const window = createConsensusWindow()
  let compared = 0
  for (const [index, { at, event }] of log.entries()) {
    window.add(event, at)
    if (!ends.has(index)) continue
    const { advances, ...expected } = bruteForce(log.slice(0, index + 1), at)
    const found = window.read()
    expect(found).toMatchObject(expected)
    expect(found.seen.advance).toBe(advances)
    compared += 1
  }
  expect(compared).toBeGreaterThanOrEqual(100)
})

test('the number of peers is limited: the one not seen for longest is removed', () => {
  const peers = createRecentlySeen(3)
  for (const [at, peer] of ['a', 'b', 'a', 'c', 'd'].entries()) peers.add(peer, at)
  expect(peers.countSince(0)).toBe(3) // b was removed
  expect(peers.countSince(3)).toBe(2) // a was last seen at 2
})
