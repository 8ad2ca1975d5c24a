import { describe, expect, test } from 'vitest'
import { createRoundLog } from '../../src/collectors/consensus/round-log.ts'
import { schedule } from '../../src/collectors/schedule/collector.ts'
import { createOwnRounds, createRoundFeed } from '../../src/collectors/schedule/predictions.ts'
import { createOwnKey } from '../../src/collectors/shared/node-state.ts'
import { nextTurn } from '../../src/core/clock.ts'
import { createLeaderSchedule } from '../../src/domain/leader-schedule.ts'
import { sample } from '../../src/core/metric.ts'
import { keyFiles } from '../../src/sources/key-files.ts'
import { manualClock } from '../support/manual-clock.ts'
import { memoryCheckpoint, recording } from './recording.ts'
import { runPolls } from './run-collector.ts'

const NOW = Date.UTC(2026, 2, 1, 12)
const KEYS = ['aa', 'bb', 'cc', 'dd'].map((byte) => `02${byte.repeat(32)}`)
const [OWN = ''] = KEYS
const MEMBERS = KEYS.map((secpKey, index) => ({ secpKey, stake: BigInt(index + 1) * 10n ** 25n }))
const leaders = createLeaderSchedule(MEMBERS)
/** Two rounds a second; the newest round at the beginning, of block 33,870,000 of epoch 678. */
const ROUND = 40_000_000n
const HEIGHT = 33_870_000n
const EPOCHS = new Map([['143', { blocks: 50_000, delayRounds: 5000 }]])

const renderSets = (epoch: bigint): string =>
  [
    `[[validator_sets]]\nepoch = ${epoch}`,
    ...MEMBERS.map(({ secpKey, stake }) => `[[validator_sets.validators]]\nnode_id = "0x${secpKey}"\nstake = ${stake}`),
  ].join('\n')

interface Node {
  readonly files?: Readonly<Record<string, string>>
  readonly key?: string | null
}

const SETS = '/node/config/validators/validators.toml'
const STARTS = '/node/config/forkpoint/forkpoint.toml'

const start = async ({ files = { [SETS]: renderSets(678n) }, key = OWN }: Node) => {
  const clock = manualClock(NOW)
  const feed = createRoundFeed()
  const { recorder, total } = recording()
  const collector = schedule({
    roundFeed: feed,
    ownKey: createOwnKey(key),
    recorder,
    nodeFiles: {
      read: (path) => Promise.resolve(files[path] ?? null),
      list: () => Promise.resolve(null),
      count: () => Promise.resolve(null),
    },
    nodeDirectory: '/node',
    readPrefix: () => Promise.resolve({ word: 'zephyr', from: 'configuration' }),
    keyFiles: { ...keyFiles, look: () => Promise.resolve('missing') },
    epochs: EPOCHS,
    published: () => [sample('chain_rpc_info', 1, { client_version: '', chain_id: '143', net_version: '' })],
    roundLog: createRoundLog(),
    checkpoints: { open: () => memoryCheckpoint(), isSaved: () => true, flush: () => Promise.resolve() },
    timing: { interval: 5000, timeout: 20_000 },
  })
  const { outcomes, samples, states, reading, next } = await runPolls(collector, clock)
  while (outcomes.length === 0) await nextTurn()
  const add = (round: bigint, more: { author?: string; parent?: bigint; isTimeout?: boolean; epoch?: bigint } = {}) => {
    const { author = leaders.leader(round) ?? '', parent = round - 1n, isTimeout = false, epoch = 678n } = more
    const passed = Number(round - ROUND)
    const block = { epoch, parentRound: parent, seqNum: HEIGHT + BigInt(passed), blockAt: NOW + passed * 500 }
    feed.add({ round, author, block: isTimeout ? null : block, isOld: false })
  }
  return {
    add,
    /** Rounds with the predicted leaders. */
    addRounds: (from: bigint, to: bigint): void => {
      for (let round = from; round <= to; round += 1n) add(round)
    },
    total,
    poll: async () => {
      const before = outcomes.length
      await next()
      while (outcomes.length === before) await nextTurn()
      const all = samples()
      return {
        reading: reading(),
        state: states()['schedule'],
        /** By its name without the prefix. */
        value: (name: string) => all.find((one) => one.name === `chain_schedule_${name}`)?.value,
      }
    },
  }
}

/** The own rounds of a range, by the schedule. */
const ownIn = (from: bigint, to: bigint): readonly bigint[] => {
  const own: bigint[] = []
  for (let round = from; round <= to; round += 1n) if (leaders.leader(round) === OWN) own.push(round)
  return own
}

describe('the schedule collector', () => {
  test('publishes nothing until 200 rounds agreed, and then the next own round and its time', async () => {
    const { addRounds, poll, total } = await start({})
    addRounds(ROUND - 198n, ROUND)
    const before = await poll()
    expect(before.value('proved')).toBe(0)
    expect(before.reading.problem).toBe('the leader schedule is not proved yet: 199 of 200 rounds have agreed')
    expect(before.value('next_own_round')).toBeUndefined()
    addRounds(ROUND + 1n, ROUND + 1n)
    const after = await poll()
    const [next = 0n] = ownIn(ROUND + 2n, ROUND + 500n)
    expect(after.value('proved')).toBe(1)
    expect(after.value('next_own_round')).toBe(Number(next))
    expect(after.value('next_own_timestamp_seconds')).toBe(NOW / 1000 + Number(next - ROUND) / 2)
    expect(total('chain_schedule_misses_total')).toBe(0)
  })

  test('counts the rounds of the next hour, and those until the set may change', async () => {
    const { addRounds, poll } = await start({})
    addRounds(ROUND - 300n, ROUND)
    // 12,000 rounds at once: the 7,200 of an hour are among the first.
    const first = await poll()
    // The poll is five seconds after the newest round: the hour ends 7,210 rounds after it.
    expect(first.value('own_rounds_next_hour')).toBe(ownIn(ROUND + 1n, ROUND + 7210n).length)
    await poll()
    const third = await poll()
    // 29,999 blocks until the boundary block, and 5,000 rounds of delay.
    expect(third.reading.until?.round).toBe(ROUND + 34_999n)
    expect(third.value('own_rounds_ahead')).toBe(ownIn(ROUND + 1n, ROUND + 34_999n).length)
  })

  test('one round with another leader ends the proof, and is counted', async () => {
    const { add, addRounds, poll, total } = await start({})
    addRounds(ROUND - 300n, ROUND)
    await poll()
    add(ROUND + 1n, { author: KEYS.find((key) => key !== leaders.leader(ROUND + 1n)) ?? '' })
    const after = await poll()
    expect(after.value('proved')).toBe(0)
    expect(after.value('next_own_round')).toBeUndefined()
    expect(after.reading.own).toBeNull()
    expect(after.state).toBe('not proved: a round had another leader than predicted')
    expect(total('chain_schedule_misses_total')).toBe(1)
    addRounds(ROUND + 2n, ROUND + 200n)
    const almost = await poll()
    expect(almost.reading.problem).toBe(
      'the leader schedule is not proved: round 40000001 had another leader than predicted, and 199 of 200 rounds have agreed since',
    )
    addRounds(ROUND + 201n, ROUND + 201n)
    const again = await poll()
    expect(again.value('proved')).toBe(1)
    expect(again.reading).toMatchObject({ problem: null, disagreedAt: null })
  })

  test('a round that times out at the start of an epoch belongs to either: it proves nothing', async () => {
    const files = { [SETS]: `${renderSets(678n)}\n${renderSets(679n)}` }
    const { add, addRounds, poll, total } = await start({ files })
    addRounds(ROUND - 300n, ROUND)
    add(ROUND + 1n, { isTimeout: true, author: 'of another set' })
    add(ROUND + 2n, { epoch: 679n, parent: ROUND })
    await poll()
    expect(total('chain_schedule_misses_total')).toBe(0)
  })

  test('the start of the next epoch in the forkpoint is the end of the schedule', async () => {
    const files = { [SETS]: renderSets(678n), [STARTS]: `[[validator_sets]]\nepoch = 679\nround = ${ROUND + 100n}\n` }
    const { addRounds, poll } = await start({ files })
    addRounds(ROUND - 300n, ROUND)
    const { reading, value } = await poll()
    expect(reading.until?.round).toBe(ROUND + 99n)
    expect(value('own_rounds_ahead')).toBe(ownIn(ROUND + 1n, ROUND + 99n).length)
    expect(value('own_rounds_next_hour')).toBeUndefined()
  })

  test('without the own key the schedule is proved, and own rounds are unknown', async () => {
    const { addRounds, poll } = await start({ key: null })
    addRounds(ROUND - 300n, ROUND)
    const { value } = await poll()
    expect(value('proved')).toBe(1)
    expect(value('own_rounds_ahead')).toBeUndefined()
    expect(value('own_rounds_next_hour')).toBeUndefined()
  })

  test('files without the set are read when the epoch changes, and once a minute', async () => {
    let reads = 0
    const files = {
      get [SETS]() {
        reads += 1
        return renderSets(677n)
      },
    }
    const { add, poll } = await start({ files })
    expect(reads).toBe(1)
    add(ROUND)
    await poll()
    expect(reads).toBe(2)
    for (let seconds = 5; seconds < 60; seconds += 5) await poll()
    expect(reads).toBe(2)
    await poll()
    expect(reads).toBe(3)
    add(ROUND + 1n, { epoch: 679n })
    await poll()
    expect(reads).toBe(4)
    await poll()
    expect(reads).toBe(4)
  })

  test.each([
    ['no file', {}, 'config/validators/validators.toml was not found in the directory of the node (node.directory)'],
    ['another epoch', { [SETS]: renderSets(677n) }, 'config/validators/validators.toml has no set of epoch 678'],
    ['no TOML', { [SETS]: '[[' }, 'could not parse the sets of validators: expected TOML'],
  ])('%s: nothing is known, and the reason is in the state', async (_name, files, missing) => {
    const { addRounds, poll, total } = await start({ files })
    addRounds(ROUND - 300n, ROUND)
    const { state, value } = await poll()
    expect(state).toBe(missing)
    expect(value('proved')).toBeUndefined()
    expect(value('file_epoch')).toBe(missing.includes('no set of epoch') ? 677 : undefined)
    expect(total('chain_schedule_misses_total') ?? 0).toBe(0)
  })
})

test('rounds are computed in slices, between which other work runs', async () => {
  const slices: number[] = []
  let computed = 0
  const isOwn = (): boolean => {
    computed += 1
    return false
  }
  const pause = (): Promise<void> => {
    slices.push(computed)
    computed = 0
    return Promise.resolve()
  }
  const rounds = createOwnRounds(pause)
  expect(await rounds.extend(1n, 20_000n, isOwn)).toBe(12_000n)
  expect(slices.length).toBe(48)
  expect(Math.max(...slices)).toBe(250)
  expect(await rounds.extend(15n, 20_000n, isOwn)).toBe(20_000n)
  expect(slices.reduce((sum, one) => sum + one, 0)).toBe(20_000)
})
