import { expect, test } from 'vitest'
import { decodeReadings } from '../../src/commands/shared/agent-snapshot.ts'
import { createSampleIndex, sample } from '../../src/core/metric.ts'
import { epochEnd, epochEndText } from '../../src/health/epoch-end.ts'

const AT = Date.parse('2026-05-02T03:00:00Z')
const minutes = (number: number): string => new Date(AT + number * 60_000).toISOString()

/** Block 33,870,000 of epoch 678 with 50,000 blocks: 29,999 to the boundary, at two a second 14,999.5 s. */
const ask = (staking: Readonly<Record<string, unknown>> | null, height = 33_870_000) =>
  epochEnd({
    at: AT,
    epochs: new Map([['143', { blocks: 50_000, delayRounds: 5000 }]]),
    known: createSampleIndex([
      sample('chain_rpc_info', 1, { client_version: '', chain_id: '143', net_version: '' }),
      sample('chain_ledger_seq_num', height, { event: 'proposed' }),
      sample('chain_ledger_epoch', 678, { event: 'proposed' }),
      sample('chain_ledger_block_timestamp_seconds', AT / 1000, { event: 'proposed' }),
      sample('chain_blocks_per_second', 2),
    ]),
    readings: decodeReadings(staking === null ? {} : { staking }),
  })

const progress = { boundaryAt: minutes(60), nextEpochAt: minutes(90) }

test('the times of the staking collector, which exports them, while it reads the same epoch', () => {
  const fromChain = ask({ epoch: { epoch: '678', isInDelay: false, progress } })
  expect(fromChain).toEqual({
    epoch: 678,
    expectedAt: AT + 3_600_000,
    latestAt: AT + 5_400_000,
    isInDelay: false,
    basis: '',
  })
  const fromLedger = { epoch: 678, expectedAt: AT + 14_999_500, latestAt: AT + 17_499_500, isInDelay: false, basis: '' }
  expect(ask(null)).toEqual(fromLedger)
  // Its reading is a minute old, and the next epoch has started.
  expect(ask({ epoch: { epoch: '677', isInDelay: true, progress } })).toEqual(fromLedger)
  const unmeasured = { boundaryAt: null, nextEpochAt: null }
  expect(ask({ epoch: { epoch: '678', isInDelay: false, progress: unmeasured } })).toEqual(fromLedger)
})

test('in the delay the expected end is the time of the boundary block', () => {
  // Block 33,900,999 is 1,000 blocks after the boundary: 500 s ago, and 4,000 blocks are left.
  expect(ask(null, 33_900_999)).toMatchObject({ expectedAt: AT - 500_000, latestAt: AT + 2_000_000, isInDelay: true })
})

test.each([
  [3600, 5400, false, 'ends in about 1 h; the next one starts in 1 h 30 min at the latest'],
  [-500, 2000, true, 'has ended; the next one starts in 33 min 20 s at the latest'],
  [
    -500,
    2000,
    false,
    'has ended, by the time since the newest block; the next one starts in 33 min 20 s at the latest',
  ],
  [-2000, -1, true, 'has ended, and how far the next one is, is not known'],
] as const)('as text: %i and %i s, in the delay %s', (...[expected, latest, isInDelay, text]) => {
  const end = { epoch: 678, expectedAt: AT + expected * 1000, latestAt: AT + latest * 1000, isInDelay, basis: '' }
  expect(epochEndText(end, AT)).toBe(`epoch 678 ${text}`)
})
