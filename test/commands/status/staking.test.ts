import { expect, test } from 'vitest'
import { statusDocument } from '../../../src/commands/status/page.ts'
import { NOTHING_READ } from '../../../src/collectors/staking/reading.ts'
import { staking as section } from '../../../src/health/sections/staking.ts'
import { NOON, shownIn, statusPage } from '../../support/status-page.ts'

const HOUR = 3_600_000
const WEI = 10n ** 18n

const validator = {
  id: 7n,
  isActive: true,
  isActiveNext: null,
  flags: 0n,
  stake: { execution: 11_000_000n * WEI, consensus: (21n * WEI) / 2n, snapshot: 0n },
  commission: { execution: WEI / 10n, consensus: WEI / 20n, snapshot: 0n },
  selfStake: 111_000n * WEI,
  minimumSelfStake: 100_000n * WEI,
  pending: { all: -500n * WEI, own: 0n },
  unclaimed: { all: 40n * WEI, own: 1n },
  threshold: 10_000_000n * WEI,
  margin: 0.1,
  rank: 2,
}
const reading = {
  ...NOTHING_READ,
  hasKey: true,
  up: true,
  epoch: {
    epoch: 1953n,
    isInDelay: false,
    progress: { boundaryBlock: 97_649_999n, progress: 0.75, boundaryAt: NOON + HOUR, nextEpochAt: NOON + 2 * HOUR },
  },
  isRegistered: true,
  authority: { address: `0x${'1a'.repeat(20)}`, balance: WEI / 4n },
  validator,
  withdrawals: [{ request: 3, amount: 5n * WEI, epoch: 1954n, isReady: false }],
  sets: { execution: 201, consensus: 200, snapshot: 200, limit: 200 },
}
const own = [{ round: 5n, slotAt: NOON + 30_000 }]
const pageOf = (staking: object) =>
  statusPage(['staking'], { readings: { staking, schedule: { problem: null, isProved: true, own } } })

test('epoch, stake and commission in the three views, rewards, rank and margin', () => {
  const page = pageOf(reading)
  const lines = shownIn(page)
  for (const line of [
    'epoch +1,953',
    'progress +75.00%',
    'epoch end, expected +2026-03-01T13:00:00Z \\(in 1 h\\)',
    'next epoch, latest +2026-03-01T14:00:00Z \\(in 2 h\\)',
    'in the active set +yes',
    'in the next set +unknown \\(fixed by the next boundary block\\)',
    'stake now +11,000,000 tokens',
    'stake in consensus +10.5 tokens',
    'stake in the snapshot +0 tokens',
    'commission now +10.00%',
    'commission in consensus +5.00%',
    'commission in the snapshot +unknown \\(no member of this set\\)',
    `authority +0x${'1a'.repeat(20)}`,
    'its balance +0.25 tokens',
    'change at the boundary +-500 tokens',
    'own unclaimed rewards +<0.0001 tokens',
    'unclaimed in the pool +40 tokens',
    'margin to the threshold +10.00%',
    'rank +2 of 200',
    'withdrawal 3 +5 tokens, from epoch 1,954',
    'next own round +2026-03-01T12:00:30Z \\(in 30 s\\)',
  ])
    expect(lines).toMatch(new RegExp(`^  ${line}$`, 'm'))
  expect(statusDocument(page).sections['staking']).toMatchObject({
    epoch: '1953',
    boundaryAt: '2026-03-01T13:00:00.000Z',
    stake: { execution: '11000000000000000000000000', consensus: '10500000000000000000', snapshot: '0' },
    unclaimed: { own: '1', all: '40000000000000000000' },
    rank: 2,
    nextOwnAt: '2026-03-01T12:00:30.000Z',
  })
})

test('a validator that is out of the set, by the precompile', () => {
  const lines = shownIn(pageOf({ ...reading, validator: { ...validator, isActive: false, flags: 5n, margin: null } }))
  expect(lines).toMatch(/^ {2}in the active set +! no$/m)
  expect(lines).toMatch(/^ {2}flags +! stake too low, double sign$/m)
  expect(lines).toMatch(/^ {2}margin to the threshold +unknown \(a flag excludes the validator\)$/m)
})

test.each([
  [{ ...NOTHING_READ }, 'the key of this node is not known yet'],
  [{ ...NOTHING_READ, hasKey: true, reason: 'no precompile at this address' }, 'no precompile at this address'],
  [{ ...reading, isRegistered: false, validator: null }, 'the key of this node is not registered'],
])('unknown, with the reason', (staking, why) => {
  const lines = shownIn(pageOf(staking))
  expect(lines).toMatch(new RegExp(`^  stake now +unknown \\(${why}\\)$`, 'm'))
  expect(lines).toMatch(new RegExp(`^  rank +unknown \\(${why}\\)$`, 'm'))
})

test('its line, which is on the status page', () => {
  const { view } = pageOf(reading)
  expect(section.summary?.(view)).toEqual({
    text: 'epoch 1,953 ends in about 1 h; the next one starts in 2 h at the latest, 75.00% done, stake 11,000,000',
    tone: undefined,
  })
  expect(shownIn(statusPage([], { readings: { staking: reading } }))).not.toContain('epoch 1,953')
})
