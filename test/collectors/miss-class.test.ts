import { expect, test } from 'vitest'
import type { RoundTimes } from '../../src/collectors/consensus/round-log.ts'
import { classifyMissedRound, type MissClass } from '../../src/collectors/schedule/miss-class.ts'
import type { RoundReadings } from '../../src/collectors/schedule/round-readings.ts'

/** A round that the node entered with the certificate of the round before, in time. */
const ENTERED: RoundTimes = {
  silentMs: 400,
  enteredBy: 'qc',
  previousMs: 400,
  usualPreviousMs: 400,
  proposalMs: null,
  usualProposalMs: 45,
  isReproposal: false,
  closedMs: 1010,
  closedBy: 'tc',
  obstacle: null,
  others: { closed: 50, timedOut: 1 },
}
const PROPOSED: RoundTimes = { ...ENTERED, proposalMs: 45 }
const LATE: RoundTimes = { ...PROPOSED, previousMs: 1040 }

/** A host without a problem. */
const WELL: RoundReadings = {
  outage: null,
  clockOffsetMs: 0.2,
  sessions: 26,
  udpDropRatio: 0,
  cardDropRatio: 0,
  diskStalledRatio: 0.009,
  executionLagging: 0,
}
const UNKNOWN: RoundReadings = {
  outage: null,
  clockOffsetMs: null,
  sessions: null,
  udpDropRatio: null,
  cardDropRatio: null,
  diskStalledRatio: null,
  executionLagging: null,
}
const DOWN = 'the service of consensus was not active'
const REPROPOSED = { enteredBy: 'tc', isReproposal: true } as const
const BEHIND = { clockOffsetMs: -900 }
const STALLED = { diskStalledRatio: 0.1 }
const POOR = { clockOffsetMs: 900, sessions: 4 }
const others = (closed: number, timedOut: number) => ({ others: { closed, timedOut } })

interface Facts {
  readonly log?: Partial<RoundTimes> | null
  readonly of?: RoundTimes
  readonly readings?: Partial<RoundReadings>
}
type Row = readonly [why: string, expected: MissClass, facts: Facts, figure?: string]

/** The functions are of monad-bft: monad-consensus-state/src/lib.rs, if no other file is named. */
const ROWS: readonly Row[] = [
  // handle_timeout_expiry: a node that runs logs a timeout at least every 700 ms.
  ['no line for 10 s', 'own outage', { log: { enteredBy: null, silentMs: 10_000 } }, 'no line of consensus'],
  ['service down', 'own outage', { log: { enteredBy: null }, readings: { outage: DOWN } }, DOWN],
  ['service down, INFO log', 'own outage', { log: null, readings: { outage: DOWN } }, DOWN],
  ['down later, and in the round it ran', 'unknown', { readings: { outage: DOWN } }],
  // try_propose: "no eth_header found, can't propose" has the round.
  ['no result of execution', 'execution', { log: { obstacle: 'execution' } }, 'execution has no result'],
  ['checks failed, and no proposal', 'execution', { readings: { executionLagging: 3 } }, 'for 3 checks of a block'],
  ['checks failed, and the proposal was in time', 'votes', { of: PROPOSED, readings: { executionLagging: 3 } }],
  ['parent not coherent', 'execution', { log: { obstacle: 'parent' }, readings: { executionLagging: 1 } }],
  // try_propose: "qc.block_id not coherent, not proposing".
  ['no parent block', 'late parent', { log: { obstacle: 'parent' } }, 'does not have the block before'],
  // pacemaker.rs, get_round_timer: three deltas of 100 ms are for messages.
  ['entry 300 ms later than usual', 'votes', { of: PROPOSED, log: { previousMs: 700 } }],
  ['entry 301 ms later', 'late parent', { of: PROPOSED, log: { previousMs: 701 } }, '701 ms on this node (usual 400'],
  ['entry late, usual unknown', 'votes', { of: PROPOSED, log: { previousMs: 701, usualPreviousMs: null } }],
  // After a timeout every node enters late.
  ['late entry after a timeout', 'votes', { of: LATE, log: { enteredBy: 'tc' } }],
  ['not entered', 'late parent', { log: { enteredBy: null } }, 'the node did not enter the round'],
  // try_propose: HighExtend::Tip proposes the block of the round before again.
  ['reproposal', 'late parent', { of: PROPOSED, log: REPROPOSED }, 'proposed the block of that round again'],
  ['few sessions, late entry', 'peers', { of: LATE, readings: { sessions: 4 } }, '4 sessions with peers'],
  ['own proposal reached none', 'peers', { of: PROPOSED, readings: { sessions: 4 } }, '4 sessions with peers'],
  ['5 sessions', 'votes', { of: PROPOSED, readings: { sessions: 5 } }],
  ['few sessions do not keep it from proposing', 'unknown', { readings: { sessions: 4 } }],
  // monad-raptorcast/src/config.rs, raptor10_redundancy: a small share of lost packets is harmless.
  ['1 % of UDP packets dropped', 'UDP', { of: LATE, readings: { udpDropRatio: 0.01 } }, '1.00% of its UDP packets'],
  ['0.9 %', 'late parent', { of: LATE, readings: { udpDropRatio: 0.009 } }],
  ['network card', 'UDP', { of: LATE, readings: { cardDropRatio: 0.02 } }, 'the network card lost 2.00%'],
  // send_vote_and_reset_timer: votes go to the next leader, not only to this node.
  ['packets dropped, proposal in time', 'votes', { of: PROPOSED, readings: { udpDropRatio: 0.05 } }],
  ['5 of 50 others, late entry', 'network', { of: LATE, log: others(50, 5) }, '5 of 50 rounds of other leaders'],
  ['5 of 50 others, proposal in time', 'network', { of: PROPOSED, log: others(50, 5) }],
  ['4 of 50 others', 'votes', { of: PROPOSED, log: others(50, 4) }],
  ['2 of 19 others are too few', 'votes', { of: PROPOSED, log: others(19, 2) }],
  ['others do not keep it from proposing', 'unknown', { log: others(50, 5) }],
  // timestamp.rs, valid_bounds: five deltas and the vote pace.
  ['clock 801 ms ahead', 'clock', { of: PROPOSED, readings: { clockOffsetMs: 801 } }, 'the clock was 801 ms ahead'],
  ['clock 800 ms ahead', 'votes', { of: PROPOSED, readings: { clockOffsetMs: 800 } }],
  // timestamp.rs, get_valid_block_timestamp: behind its parent, the node takes the time of the parent.
  ['clock behind', 'votes', { of: PROPOSED, readings: BEHIND }],
  ['behind after a timeout', 'clock', { of: { ...PROPOSED, enteredBy: 'tc' }, readings: BEHIND }, '900 ms behind'],
  ['clock, INFO log', 'clock', { log: null, readings: { clockOffsetMs: 900 } }],
  ['late proposal', 'disk', { log: { proposalMs: 640 }, readings: STALLED }, 'for 10.00% of the time'],
  ['disk, late entry', 'disk', { of: LATE, readings: STALLED }],
  ['disk, proposal in time', 'votes', { of: PROPOSED, readings: { diskStalledRatio: 0.5 } }],
  ['late proposal, nothing else', 'unknown', { log: { proposalMs: 346 } }, 'proposal 346 ms after the round began'],
  ['proposal 300 ms later than usual', 'votes', { log: { proposalMs: 345 } }],
  ['in time, no certificate', 'votes', { of: PROPOSED }, 'closed the round after 1,010 ms'],
  // The block was certified, and abandoned later: neither its votes nor its timestamp were missing.
  ['closed by a certificate', 'unknown', { of: { ...PROPOSED, closedBy: 'qc' }, readings: POOR }, 'got a certificate'],
  ['closed by a certificate, late entry', 'unknown', { of: LATE, log: { closedBy: 'qc' } }],
  ['reproposal with a certificate', 'late parent', { of: PROPOSED, log: { ...REPROPOSED, closedBy: 'qc' } }],
  ['the end of the round is not logged', 'unknown', { of: PROPOSED, log: { closedMs: null, closedBy: null } }],
  ['no proposal, nothing else', 'unknown', {}, 'the node entered the round and proposed no block'],
  ['no proposal, nothing known', 'unknown', { readings: UNKNOWN }],
  ['INFO log, nothing known', 'unknown', { log: null, readings: UNKNOWN }, 'has no rounds of that time'],
  ['INFO log, packets dropped', 'unknown', { log: null, readings: { udpDropRatio: 0.5 } }],
]

test.each(ROWS.map(([why, expected, ...rest]) => ({ why, expected, rest })))(
  '$why: $expected',
  ({ expected, rest }) => {
    const [{ log = {}, of = ENTERED, readings = {} }, figure = ''] = rest
    const found = classifyMissedRound({ log: log && { ...of, ...log }, readings: { ...WELL, ...readings } })
    expect(found.class).toBe(expected)
    expect(found.figures.at(0) ?? '').toContain(figure)
  },
)

test('what is beyond its limit and not the class is listed after it', () => {
  const readings = { ...WELL, udpDropRatio: 0.05, sessions: 3, clockOffsetMs: 1200 }
  expect(classifyMissedRound({ log: LATE, readings })).toEqual({
    class: 'peers',
    figures: [
      '3 sessions with peers',
      'the round before took 1,040 ms on this node (usual 400 ms)',
      'also: the clock was 1,200 ms ahead; other nodes accept 800 ms',
      'also: the host dropped 5.00% of its UDP packets',
    ],
  })
})
