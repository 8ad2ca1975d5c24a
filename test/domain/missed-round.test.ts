import { expect, test } from 'vitest'
import {
  classifyMissedRound,
  type MissClass,
  type RoundReadings,
  type RoundTimes,
} from '../../src/domain/missed-round.ts'

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

type Row = readonly [
  why: string,
  expected: MissClass,
  facts: {
    readonly log?: Partial<RoundTimes> | null
    readonly of?: RoundTimes
    readonly readings?: Partial<RoundReadings>
  },
  figures: string | null,
]

/** The functions are of monad-bft: monad-consensus-state/src/lib.rs, if no other file is named. */
const ROWS: readonly Row[] = [
  // handle_timeout_expiry: a node that runs logs a timeout at least every 700 ms.
  [
    'no line for 10 s',
    'own outage',
    { log: { enteredBy: null, silentMs: 10_000 } },
    'no line of consensus about a round for 10 s',
  ],
  ['service down', 'own outage', { log: { enteredBy: null }, readings: { outage: DOWN } }, DOWN],
  ['service down, INFO log', 'own outage', { log: null, readings: { outage: DOWN } }, DOWN],
  ['down later, and in the round it ran', 'unknown', { readings: { outage: DOWN } }, null],
  // try_propose: "no eth_header found, can't propose" has the round.
  [
    'no result of execution',
    'execution',
    { log: { obstacle: 'execution' } },
    'consensus logged that execution has no result to build on',
  ],
  [
    'checks failed for execution, and no proposal',
    'execution',
    { readings: { executionLagging: 3 } },
    'execution was behind for 3 checks of a block',
  ],
  ['checks failed, and the proposal was in time', 'votes', { of: PROPOSED, readings: { executionLagging: 3 } }, null],
  [
    'parent not coherent for lack of execution',
    'execution',
    { log: { obstacle: 'parent' }, readings: { executionLagging: 1 } },
    null,
  ],
  // try_propose: "qc.block_id not coherent, not proposing".
  [
    'no parent block',
    'late parent',
    { log: { obstacle: 'parent' } },
    'consensus logged that it does not have the block before, or could not check it',
  ],
  // pacemaker.rs, get_round_timer: three deltas of 100 ms are for messages.
  ['entry 300 ms later than usual', 'votes', { of: PROPOSED, log: { previousMs: 700 } }, null],
  [
    'entry 301 ms later than usual',
    'late parent',
    { of: PROPOSED, log: { previousMs: 701 } },
    'the round before took 701 ms on this node (usual 400 ms)',
  ],
  ['entry late, usual unknown', 'votes', { of: PROPOSED, log: { previousMs: 701, usualPreviousMs: null } }, null],
  // After a timeout every node enters late.
  ['late entry after a timeout', 'votes', { of: LATE, log: { enteredBy: 'tc' } }, null],
  [
    'not entered',
    'late parent',
    { log: { enteredBy: null } },
    'the node did not enter the round: it had the certificate of a later one first',
  ],
  // try_propose: HighExtend::Tip proposes the block of the round before again.
  [
    'reproposal',
    'late parent',
    { of: PROPOSED, log: { enteredBy: 'tc', isReproposal: true } },
    'the round before timed out, and the node proposed the block of that round again',
  ],
  ['few sessions, late entry', 'peers', { of: LATE, readings: { sessions: 4 } }, '4 sessions with peers'],
  [
    'few sessions, own proposal reached none',
    'peers',
    { of: PROPOSED, readings: { sessions: 4 } },
    '4 sessions with peers',
  ],
  ['5 sessions', 'votes', { of: PROPOSED, readings: { sessions: 5 } }, null],
  ['few sessions do not keep it from proposing', 'unknown', { readings: { sessions: 4 } }, null],
  // monad-raptorcast/src/config.rs, raptor10_redundancy: a small share of lost packets is harmless.
  [
    '1 % of UDP packets dropped, late entry',
    'UDP',
    { of: LATE, readings: { udpDropRatio: 0.01 } },
    'the host dropped 1.00% of its UDP packets',
  ],
  ['0.9 %', 'late parent', { of: LATE, readings: { udpDropRatio: 0.009 } }, null],
  [
    'network card',
    'UDP',
    { of: LATE, readings: { cardDropRatio: 0.02 } },
    'the network card lost 2.00% of its packets',
  ],
  // send_vote_and_reset_timer: votes go to the next leader, not only to this node.
  ['packets dropped, proposal in time', 'votes', { of: PROPOSED, readings: { udpDropRatio: 0.05 } }, null],
  [
    '5 of 50 others, late entry',
    'network',
    { of: LATE, log: { others: { closed: 50, timedOut: 5 } } },
    '5 of 50 rounds of other leaders around it timed out',
  ],
  ['5 of 50 others, proposal in time', 'network', { of: PROPOSED, log: { others: { closed: 50, timedOut: 5 } } }, null],
  ['4 of 50 others', 'votes', { of: PROPOSED, log: { others: { closed: 50, timedOut: 4 } } }, null],
  ['2 of 19 others are too few', 'votes', { of: PROPOSED, log: { others: { closed: 19, timedOut: 2 } } }, null],
  ['others do not keep it from proposing', 'unknown', { log: { others: { closed: 50, timedOut: 5 } } }, null],
  // timestamp.rs, valid_bounds: five deltas and the vote pace.
  [
    'clock 801 ms ahead',
    'clock',
    { of: PROPOSED, readings: { clockOffsetMs: 801 } },
    'the clock was 801 ms ahead; other nodes accept 800 ms',
  ],
  ['clock 800 ms ahead', 'votes', { of: PROPOSED, readings: { clockOffsetMs: 800 } }, null],
  // timestamp.rs, get_valid_block_timestamp: behind its parent, the node takes the time of the parent.
  ['clock behind', 'votes', { of: PROPOSED, readings: { clockOffsetMs: -900 } }, null],
  [
    'clock behind, after a timeout',
    'clock',
    { of: PROPOSED, log: { enteredBy: 'tc' }, readings: { clockOffsetMs: -900 } },
    'the clock was 900 ms behind; other nodes accept 800 ms',
  ],
  ['clock, INFO log', 'clock', { log: null, readings: { clockOffsetMs: 900 } }, null],
  [
    'disk, late proposal',
    'disk',
    { log: { proposalMs: 640 }, readings: { diskStalledRatio: 0.1 } },
    'all programs waited for the disk for 10.00% of the time',
  ],
  ['disk, late entry', 'disk', { of: LATE, readings: { diskStalledRatio: 0.1 } }, null],
  ['disk, proposal in time', 'votes', { of: PROPOSED, readings: { diskStalledRatio: 0.5 } }, null],
  [
    'late proposal, nothing else',
    'unknown',
    { log: { proposalMs: 346 } },
    'proposal 346 ms after the round began (usual 45 ms)',
  ],
  ['proposal 300 ms later than usual', 'votes', { log: { proposalMs: 345 } }, null],
  [
    'in time, no certificate',
    'votes',
    { of: PROPOSED },
    'no certificate for it: a timeout closed the round after 1,010 ms',
  ],
  // The block was certified, and abandoned later: neither its votes nor its timestamp were missing.
  [
    'a certificate closed the round',
    'unknown',
    { of: PROPOSED, log: { closedBy: 'qc' }, readings: { clockOffsetMs: 900, sessions: 4 } },
    'the block got a certificate and was abandoned later',
  ],
  ['a certificate closed the round, late entry', 'unknown', { of: LATE, log: { closedBy: 'qc' } }, null],
  [
    'reproposal, and a certificate for it',
    'late parent',
    { of: PROPOSED, log: { enteredBy: 'tc', isReproposal: true, closedBy: 'qc' } },
    null,
  ],
  ['the end of the round is not logged', 'unknown', { of: PROPOSED, log: { closedMs: null, closedBy: null } }, null],
  ['no proposal, nothing else', 'unknown', {}, 'the node entered the round and proposed no block'],
  ['no proposal, nothing known', 'unknown', { readings: UNKNOWN }, null],
  [
    'INFO log, nothing known',
    'unknown',
    { log: null, readings: UNKNOWN },
    'the consensus log has no rounds of that time',
  ],
  ['INFO log, packets dropped', 'unknown', { log: null, readings: { udpDropRatio: 0.5 } }, null],
]

test.each(ROWS)('%s: %s', (...[, expected, { log = {}, of = ENTERED, readings = {} }, figures]) => {
  const found = classifyMissedRound({ log: log && { ...of, ...log }, readings: { ...WELL, ...readings } })
  expect(found.class).toBe(expected)
  if (figures !== null) expect(found.figures[0]).toBe(figures)
})

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
