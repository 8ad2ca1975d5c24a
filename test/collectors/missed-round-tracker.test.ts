import { expect, test } from 'vitest'
import { createRoundLog } from '../../src/collectors/consensus/round-log.ts'
import { createMissedRounds, parseMissedRounds } from '../../src/collectors/schedule/missed-rounds.ts'
import { createSampleIndex } from '../../src/core/metric.ts'
import { toJson } from '../../src/core/json.ts'

const OWN = `02${'aa'.repeat(32)}`
const OTHER = `03${'bb'.repeat(32)}`
const T0 = Date.UTC(2026, 2, 1, 12)
const NOTHING = createSampleIndex([])

const start = (saved?: unknown) => {
  let written: unknown = saved
  const missed = createMissedRounds({
    roundLog: createRoundLog(),
    checkpoint: {
      read: () => Promise.resolve(written === undefined ? { state: 'none' } : { state: 'saved', value: written }),
      save: (value) => {
        written = toJson(value)
        return Promise.resolve()
      },
    },
  })
  const context = (isOwn: (round: bigint) => boolean = () => false) => ({ ownKey: OWN, now: T0, isOwn })
  return {
    ...missed,
    saved: () => parseMissedRounds(JSON.parse(JSON.stringify(written ?? null))),
    block: (round: bigint, parentRound: bigint, more: { author?: string; seqNum?: bigint; own?: bigint } = {}) => {
      const { author = OTHER, seqNum = round, own } = more
      const block = { epoch: 7n, parentRound, seqNum, blockAt: T0 + Number(round) }
      missed.add(
        { round, author, block, isOld: false },
        context((one) => one === own),
      )
    },
    timeout: (round: bigint, author = OWN) => {
      missed.add({ round, author, block: null, isOld: false }, context())
    },
    /** The rounds that are classified once the readings after them exist. */
    rounds: () => {
      missed.evaluate(NOTHING, OWN, T0 + 29_999)
      expect(missed.all()).toEqual([])
      missed.evaluate(NOTHING, OWN, T0 + 30_000)
      return missed.all().map(({ round }) => round)
    },
  }
}

test('a timeout of the own round counts once the next block does not have it as an ancestor', () => {
  const { block, timeout, rounds, saved } = start()
  block(100n, 99n)
  timeout(101n)
  timeout(102n, OTHER)
  block(103n, 100n)
  expect(rounds()).toEqual([101n])
  expect(saved()).toEqual([
    { round: 101n, at: T0 + 103, class: 'unknown', figures: ['the consensus log has no rounds of that time'] },
  ])
})

test('a block of the round after its timeout is not missed', () => {
  const { block, timeout, rounds } = start()
  timeout(101n)
  block(101n, 100n, { author: OWN })
  block(102n, 101n)
  expect(rounds()).toEqual([])
})

test('a round without any line is own by the schedule', () => {
  const { block, rounds } = start()
  block(103n, 100n, { own: 102n })
  expect(rounds()).toEqual([102n])
})

test('an own block is abandoned if a later block has its height', () => {
  const { block, rounds } = start()
  block(101n, 100n, { author: OWN, seqNum: 501n })
  block(102n, 100n, { seqNum: 501n })
  block(103n, 102n, { seqNum: 502n })
  expect(rounds()).toEqual([101n])
})

test('a block on top of the own one keeps it', () => {
  const { block, rounds } = start()
  block(101n, 100n, { author: OWN, seqNum: 501n })
  block(102n, 101n, { seqNum: 502n })
  expect(rounds()).toEqual([])
})

test('saved classes are kept, the newest thousand, and each round has one', async () => {
  const old = Array.from({ length: 1000 }, (_, index) => ({
    round: `${index}`,
    at: T0 - 1000 + index,
    class: 'votes',
    figures: [],
  }))
  const { block, timeout, restore, evaluate, all, saved } = start(old)
  await restore()
  timeout(999n)
  block(1000n, 998n)
  timeout(1001n)
  block(1002n, 1000n)
  evaluate(NOTHING, OWN, T0 + 30_000)
  expect(all().map(({ round }) => round)).toEqual(
    Array.from({ length: 999 }, (_, index) => BigInt(index + 1)).concat(1001n),
  )
  expect(saved()).toEqual(all())
})

test('a checkpoint of another form is empty', () => {
  expect(parseMissedRounds({ epoch: '1' })).toEqual([])
  expect(parseMissedRounds([{ round: '1', at: 1, class: 'a guess', figures: [] }])).toEqual([])
})
