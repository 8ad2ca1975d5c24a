import { describe, expect, test } from 'vitest'
import { decodeReadings } from '../../src/commands/shared/agent-snapshot.ts'
import type { RuleFinding } from '../../src/parsers/agent-status.ts'
import { createSampleIndex, type Sample, sample } from '../../src/core/metric.ts'
import { minute } from '../../src/core/units.ts'
import { type RestartInput, restartWindow } from '../../src/health/restart-window.ts'
import { AT, FINDING, NOW } from './advise.ts'

const EPOCHS = new Map([['143', { blocks: 50_000, delayRounds: 5000 }]])

interface Node {
  readonly height?: number
  readonly epoch?: number
  readonly chainId?: string
  readonly references?: number
  readonly more?: readonly Sample[]
  /** Names of metrics that are unknown. */
  readonly without?: readonly string[]
  readonly findings?: readonly Partial<RuleFinding>[]
  readonly span?: number
  readonly stake?: number
  readonly down?: readonly string[]
  /** Seconds since the newest block. */
  readonly age?: number
  readonly startSeconds?: number
  /** Own rounds, in seconds from now, and until when they are known. */
  readonly own?: readonly number[]
  readonly until?: number
  /** Collectors that are enabled and have no reading. */
  readonly unread?: readonly string[]
}

/** A validator in the middle of epoch 678: blocks 33,850,000 to 33,899,999, two blocks a second. */
const evaluate = (node: Node) => {
  const { height = 33_870_000, epoch = 678, chainId = '143', references = 2, more = [], without = [] } = node
  const { down = [], age = 1, stake = 0.01, startSeconds = 40, own, until = 3600 } = node
  const samples = [
    ...['bft', 'execution'].flatMap((service) => [
      sample('chain_service_active', !down.includes(service), { service }),
      sample('chain_service_expected', 1, { service }),
    ]),
    sample('chain_ledger_seq_num', height, { event: 'proposed' }),
    sample('chain_ledger_epoch', epoch, { event: 'proposed' }),
    sample('chain_ledger_block_timestamp_seconds', NOW - age, { event: 'proposed' }),
    sample('chain_rpc_last_advance_timestamp_seconds', NOW - 1),
    sample('chain_rpc_info', 1, { client_version: '', chain_id: chainId, net_version: '' }),
    ...['a', 'b'].map((reference, index) => sample('chain_reference_up', index < references, { reference })),
    ...['a', 'b']
      .slice(0, references)
      .map((reference) => sample('chain_reference_block_number', height, { reference })),
    sample('chain_consensus_finding', 0, { finding: 'rounds_closed_by_timeout' }),
    sample('chain_blocks_per_second', 2),
    sample('chain_blocksync_window_remaining_blocks', 800),
    sample('chain_last_start_seconds', startSeconds),
    sample('chain_native_stake_ratio', stake),
  ]
  const input: RestartInput = {
    at: AT,
    prefix: 'chain',
    epochs: EPOCHS,
    span: node.span ?? 5 * minute,
    known: createSampleIndex([...samples.filter(({ name }) => !without.includes(name)), ...more]),
    collectors: (node.unread ?? []).map((name) => ({
      name,
      help: '',
      enabled: true,
      up: false,
      lastSuccessAt: null,
      error: { message: 'Could not get a response in time: none within 5s', code: null, advice: null },
      hasReading: false,
    })),
    readings: decodeReadings(
      own === undefined
        ? {}
        : { schedule: { until: { slotAt: time(until) }, own: own.map((seconds) => ({ slotAt: time(seconds) })) } },
    ),
    health: {
      state: 'healthy',
      since: 0,
      unknownBecause: null,
      failures: [],
      findings: (node.findings ?? []).map((one) => ({ ...FINDING, ...one })),
    },
  }
  return restartWindow(input)
}

const costOf = (node: Node) => evaluate(node).ownRounds

const ask = (node: Node) => {
  const { isSafe, summary, nextAt } = evaluate(node)
  return { isSafe, summary, ...(nextAt !== null && !isSafe && { next: new Date(nextAt).toISOString() }) }
}

const time = (seconds: number): string => new Date(AT + seconds * 1000).toISOString()

describe('a node in the middle of an epoch', () => {
  test('can be restarted; what is unknown is said', () => {
    expect(ask({}).summary).toBe('safe now, for 5 min; costs about 6 own rounds')
    const without = ['chain_last_start_seconds', 'chain_reference_up', 'chain_reference_block_number']
    expect(ask({ without })).toMatchObject({
      isSafe: true,
      summary: 'safe now, for 5 min; costs about 6 own rounds; unknown: references and blocksync',
    })
  })

  test('leads no rounds without stake', () => {
    expect(ask({ stake: 0 }).summary).toBe('safe now, for 5 min')
  })
})

test.for<readonly [string, Node, string | RegExp]>([
  ['execution is down', { down: ['execution'] }, 'execution is down'],
  ['systemd is not readable', { without: ['chain_service_active'] }, 'services unknown: systemd: no reading'],
  [
    'systemd does not answer',
    { without: ['chain_service_active'], unread: ['services'] },
    'services unknown: systemd: Could not get a response in time: none within 5s',
  ],
  [
    'the conditions of a start were not read',
    { unread: ['host', 'keys', 'status'] },
    'findings unknown: no reading of host and keys',
  ],
  [
    'configured references have no reading',
    { without: ['chain_reference_up', 'chain_reference_block_number'], unread: ['reference'] },
    'references unknown: no majority agrees on a height; no reading',
  ],
  ['sync', { more: [sample('chain_native_statesync_active', 1)] }, 'the node runs statesync'],
  ['a start', { more: [sample('chain_native_start_active', 1)] }, 'consensus is starting'],
  ['an old block', { age: 11 }, 'the newest block is 11 s old'],
  ['behind the references', { more: [sample('chain_block_difference', 16)] }, 'the node is 16 blocks behind'],
  ['no block', { without: ['chain_ledger_seq_num'] }, /^not now: sync unknown: no source reports a block; /],
  ['one of two references', { references: 1 }, 'references unknown: no majority agrees on a height; 1 of 2 answer'],
  [
    'rounds time out',
    {
      without: ['chain_consensus_finding'],
      more: [sample('chain_consensus_finding', 1, { finding: 'rounds_closed_by_timeout' })],
    },
    'too many rounds of the last minute timed out: the network needs every validator',
  ],
  [
    'the consensus log has warnings only',
    { without: ['chain_consensus_finding'] },
    'network unknown: the consensus log does not show how many rounds time out',
  ],
  [
    'a consensus log that stopped',
    { more: [sample('chain_agent_journal_last_entry_timestamp_seconds', NOW - 21, { service: 'bft' })] },
    'network unknown: the newest entry of the consensus log is 21 s old',
  ],
  ['a critical finding', { findings: [{}] }, 'critical: ChainIsolated'],
  [
    'a kernel on which nodes hang',
    { findings: [{ alert: 'ChainHostSetUp.kernel', countsAs: 'warning', labels: { kernel: 'running' } }] },
    'critical: ChainHostSetUp.kernel',
  ],
  [
    'a keystore that is missing, which does not wait for its alert',
    { findings: [{ alert: 'ChainKeyFile.missing', countsAs: null, labels: { key: 'bls', kind: 'keystore' } }] },
    'critical: ChainKeyFile.missing',
  ],
  [
    'a fork whose timeline is missing',
    { findings: [{ alert: 'ChainForkNotReady', labels: { fork: 'a', check: 'timeline' } }] },
    'critical: ChainForkNotReady',
  ],
  ['an unknown chain', { chainId: '7' }, 'epoch unknown: the length of an epoch of chain 7 is not known'],
  [
    'a ledger stream that stopped 31 blocks ago',
    {
      more: [
        sample('chain_rpc_block_number', 33_870_031, { tag: 'latest' }),
        sample('chain_rpc_block_timestamp_seconds', NOW, { tag: 'latest' }),
      ],
    },
    'epoch unknown: neither the ledger stream nor the consensus log shows the epoch of a recent block',
  ],
  ['another length of an epoch', { epoch: 700 }, 'epoch unknown: block 33,870,000 does not fit epoch 700 of chain 143'],
  // 300 s and twice 50 s are 800 blocks: less than 300 s are left.
  [
    'a slow start',
    { startSeconds: 50 },
    '5 min and a start of 1 min 40 s (2 times the last one) are 800 blocks at 2.0 blocks a second; the node can catch up with 800 by default: the longest safe time is --for 299s',
  ],
])('not safe: %s', ([, node, reason]) => {
  const { isSafe, summary, next } = ask(node)
  expect(isSafe).toBe(false)
  if (typeof reason === 'string') expect(summary).toBe(`not now: ${reason}`)
  else expect(summary).toMatch(reason)
  // Of these it is not known when they end.
  expect(next).toBeUndefined()
})

test.for<readonly [string, Node]>([
  ['5 min and a start of 98 s: 796 of 800 blocks', { startSeconds: 49 }],
  ['a critical finding that is pending', { findings: [{ countsAs: null }] }],
  ['a consequence of another finding', { findings: [{ explainedBy: ['ChainStatesync'] }] }],
  ['a warning', { findings: [{ countsAs: 'warning' }] }],
  [
    'a backup that is missing: a start does not need it',
    { findings: [{ alert: 'ChainKeyFile.missing', countsAs: 'warning', labels: { key: 'bls', kind: 'backup' } }] },
  ],
  [
    'a kernel that only a reboot would start',
    { findings: [{ alert: 'ChainHostSetUp.kernel', countsAs: 'warning', labels: { kernel: 'pending' } }] },
  ],
  [
    'a fork for which the new version must be started',
    { findings: [{ alert: 'ChainForkNotReady', labels: { fork: 'a', check: 'version' } }] },
  ],
  ['15 blocks behind', { more: [sample('chain_block_difference', 15)] }],
])('safe: %s', ([, node]) => {
  expect(ask(node)).toMatchObject({ isSafe: true, summary: 'safe now, for 5 min; costs about 6 own rounds' })
})

describe('the epoch, at two blocks a second', () => {
  // 400 blocks before the boundary block: 200 s. The delay lasts 5,000 rounds, 2,500 s at most.
  const near = { height: 33_899_599 }

  test('ends within the time of the restart, nearer on a stalled node', () => {
    expect(ask(near)).toEqual({
      isSafe: false,
      summary:
        'not now: epoch 678 ends in about 3 min 20 s; the next one starts in 45 min at the latest; next safe at about 2026-05-02T03:45:00Z, in 45 min, when the next epoch has started',
      next: '2026-05-02T03:45:00.000Z',
    })
    expect(ask({ ...near, span: 201_000 }).isSafe).toBe(false)
    expect(ask({ ...near, span: 200_000 }).isSafe).toBe(true)
    expect(ask({ ...near, age: 60 }).summary).toMatch(
      / is 1 min old; epoch 678 ends in about 2 min 20 s; the next one starts in 44 min at the latest$/,
    )
    expect(ask({ ...near, age: 201 }).summary).toBe(
      'not now: the newest block is 3 min old; epoch 678 has ended, by the time since the newest block; the next one starts in 41 min 39 s at the latest',
    )
    // Two blocks a second: 200 s to the boundary, and 2,500 s of the delay.
    expect(ask({ ...near, age: 2701 }).summary).toBe('not now: the newest block is 45 min old')
  })

  test('the delay is not safe: 4,000 of its blocks are left, 2,000 s', () => {
    expect(ask({ height: 33_900_999 })).toEqual({
      isSafe: false,
      summary:
        'not now: epoch 678 has ended; the next one starts in 33 min 20 s at the latest; next safe at about 2026-05-02T03:33:20Z, in 33 min 20 s, when the next epoch has started',
      next: '2026-05-02T03:33:20.000Z',
    })
    expect(ask({ height: 33_900_999, epoch: 679 }).isSafe).toBe(true)
  })

  test('with another reason the next time is not known', () => {
    expect(ask({ ...near, findings: [{}] })).toEqual({
      isSafe: false,
      summary:
        'not now: critical: ChainIsolated; epoch 678 ends in about 3 min 20 s; the next one starts in 45 min at the latest',
    })
  })

  test('without a measured rate it is three blocks a second, and said so', () => {
    expect(ask({ height: 33_899_599, without: ['chain_blocks_per_second'], span: 140_000 }).summary).toBe(
      'not now: epoch 678 ends in about 2 min 13 s; the next one starts in 30 min at the latest, at an assumed 3 blocks a second; next safe at about 2026-05-02T03:30:00Z, in 30 min, when the next epoch has started',
    )
  })
})

describe('the time away counts', () => {
  const pace = (rate: number, startSeconds: number | undefined, span: number) =>
    ask({
      span,
      without: ['chain_blocks_per_second', ...(startSeconds === undefined ? ['chain_last_start_seconds'] : [])],
      more: [sample('chain_blocks_per_second', rate)],
      ...(startSeconds !== undefined && { startSeconds }),
    })

  test('five minutes at 3.3 blocks a second are 990 blocks: not safe', () => {
    expect(pace(3.3, undefined, 300_000)).toEqual({
      isSafe: false,
      summary:
        'not now: 5 min are 990 blocks at 3.3 blocks a second; the node can catch up with 800 by default: the longest safe time is --for 242s',
    })
  })

  // 800 / 3.3 are 242.4 s, of which twice the last start is kept.
  test.each([
    [undefined, 242],
    [10, 222],
    [60, 122],
  ])('with a start of %s s the longest safe time is %i s', (startSeconds, longest) => {
    expect(pace(3.3, startSeconds, longest * 1000).isSafe).toBe(true)
    const { isSafe, summary } = pace(3.3, startSeconds, (longest + 1) * 1000)
    expect(isSafe).toBe(false)
    expect(summary).toMatch(new RegExp(`--for ${longest}s$`))
  })

  test('800 blocks in exactly the time away, or in twice the last start, are not below the window', () => {
    expect(pace(4, 100, 1000).summary).toMatch(/: no time away is safe$/)
    expect(pace(4, undefined, 200_000).summary).toMatch(/--for 199s$/)
    expect(pace(4, undefined, 199_000).isSafe).toBe(true)
  })

  test('a rate that is not measured is the fastest that consensus allows: 10 blocks in 3 s', () => {
    const without = ['chain_blocks_per_second', 'chain_last_start_seconds']
    expect(ask({ without, span: 239_000 }).isSafe).toBe(true)
    expect(ask({ without, span: 240_000 }).summary).toBe(
      'not now: 4 min are 800 blocks at 3.3 blocks a second, the most that consensus allows; the node can catch up with 800 by default: the longest safe time is --for 239s',
    )
  })

  test('a node that is behind has less', () => {
    const without = [
      'chain_blocks_per_second',
      'chain_blocksync_window_remaining_blocks',
      'chain_last_start_seconds',
      'chain_reference_up',
      'chain_reference_block_number',
    ]
    const more = [
      sample('chain_blocks_per_second', 4),
      sample('chain_blocksync_window_remaining_blocks', 790),
      sample('chain_node_statesync_threshold_blocks', 600),
    ]
    expect(ask({ without, more, span: 198_000 }).summary).toMatch(/the node can catch up with 790: .* --for 197s$/)
  })
})

describe('own rounds are a cost, never a reason against the restart', () => {
  test.each([
    { own: [302.1, 900], cost: 'none in this time; the next one in 5 min 2 s; ' },
    { own: [], cost: 'none in this time; none is known; ' },
  ])('none in this time: $own', ({ own, cost }) => {
    expect(ask({ own }).summary).toBe('safe now, for 5 min')
    expect(costOf({ own })).toEqual({
      rounds: 0,
      fewest: null,
      knownUntil: AT + 3600_000,
      summary: `${cost}by the leader schedule, known until 2026-05-02T04:00:00Z`,
    })
  })

  test('a start with fewer is offered, with the time until which the schedule is known', () => {
    // From two seconds after the round at 200 s to the one at 600 s: 396 s.
    expect(ask({ own: [60, 200, 600] })).toEqual({
      isSafe: true,
      summary:
        'safe now, for 5 min; costs about 2 own rounds; the fewest, 0, from 2026-05-02T03:03:22Z, by the leader schedule, known until 2026-05-02T04:00:00Z',
    })
    expect(costOf({ own: [60, 200, 600] })).toMatchObject({
      rounds: 2,
      fewest: { rounds: 0, at: AT + 202_000 },
      summary:
        '2 in this time, the first in 1 min; the fewest, 0, from 2026-05-02T03:03:22Z, in 3 min 22 s; by the leader schedule, known until 2026-05-02T04:00:00Z',
    })
  })

  test('the answer does not depend on how far the schedule is known', () => {
    // 36 rounds, 100 s apart: three of them in any 5 min. With another 10 min, a time without.
    const own = Array.from({ length: 36 }, (_, index) => 50 + 100 * index)
    expect(ask({ own }).summary).toBe('safe now, for 5 min; costs about 3 own rounds')
    expect(costOf({ own }).summary).toMatch(/^3 in this time, the first in 50 s; no start with fewer is known; /)
    expect(ask({ own, until: 4200 }).summary).toBe(
      'safe now, for 5 min; costs about 3 own rounds; the fewest, 0, from 2026-05-02T03:59:12Z, by the leader schedule, known until 2026-05-02T04:10:00Z',
    )
  })

  test('a start that meets the end of the epoch is not offered', () => {
    // The epoch ends in 400 s, and its delay 2,500 s later: of 200 s, that at 150 s has none.
    const near = { height: 33_899_199, span: 200_000 }
    expect(costOf({ ...near, own: [10, 20, 150] }).fewest).toEqual({ rounds: 0, at: AT + 152_000 })
    expect(costOf({ ...near, own: [10, 20, 210] }).fewest).toEqual({ rounds: 1, at: AT + 22_000 })
    expect(costOf({ ...near, own: [10, 210, 2899] }).fewest).toEqual({ rounds: 0, at: AT + 2_901_000 })
  })

  test('without a schedule for this time they follow from the stake', () => {
    // 1 % of 2 rounds a second in 300 s are 6.
    expect(ask({ own: [10], until: 200 }).summary).toBe('safe now, for 5 min; costs about 6 own rounds')
    expect(costOf({ own: [10], until: 200 })).toEqual({
      rounds: 6,
      fewest: null,
      knownUntil: null,
      summary: 'about 6 in this time, by its share of the stake; the leader schedule is known for 3 min 20 s only',
    })
    expect(costOf({ stake: 0.000_5 })).toMatchObject({ rounds: 0.3 })
    expect(costOf({ own: [10], until: 300 })).toMatchObject({ rounds: 1 })
    const unknown = { without: ['chain_native_stake_ratio'] }
    expect(costOf(unknown)).toMatchObject({ rounds: null, summary: 'there is no leader schedule' })
    expect(ask(unknown).summary).toBe('safe now, for 5 min; unknown: own rounds')
  })
})
