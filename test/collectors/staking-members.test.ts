import { expect, test } from 'vitest'
import { createChainSets } from '../../src/collectors/shared/node-state.ts'
import { NodeUnavailableError } from '../../src/collectors/staking/precompile.ts'
import { createMemberReader } from '../../src/collectors/staking/sets.ts'
import type { Clock } from '../../src/core/clock.ts'
import { parseStakingValidator } from '../../src/parsers/staking.ts'
import { validatorWords } from '../support/staking-words.ts'
import { chainState, KEY, stakingPoll, startStakingNode, WEI } from './staking-node.ts'

const { signal } = new AbortController()
const keyOf = (id: bigint): string => `02${id.toString(16).padStart(64, '0')}`

/** A node whose sets have that number of members; the last one left with the snapshot view. */
const reader = (members: number, callMs = 0) => {
  let now = 0
  const clock: Clock = {
    now: () => now,
    elapsed: () => now,
    sleep: (ms) => {
      now += ms
      return Promise.resolve()
    },
  }
  const calls: { readonly call: string; readonly at: number }[] = []
  const control = { isFailing: false }
  const ids = Array.from({ length: members }, (_, index) => BigInt(index + 1))
  const { own } = chainState()
  const record = <T>(call: string, value: T): Promise<T> => {
    now += callMs
    calls.push({ call, at: now })
    return control.isFailing ? Promise.reject(new NodeUnavailableError('busy')) : Promise.resolve(value)
  }
  const state = {
    set: (view: string) => record(view, view === 'snapshot' ? ids : ids.slice(0, -1)),
    validator: (id: bigint) =>
      record(
        `validator ${id}`,
        parseStakingValidator(
          validatorWords({ ...own, secp: keyOf(id), consensusStake: id * WEI, snapshotStake: id * WEI + 1n }),
        ),
      ),
  }
  const read = createMemberReader(clock, 10_000)
  return {
    calls,
    control,
    poll: (epoch: bigint, isInDelay = false) => read(state, { epoch, isInDelay }, signal),
    /** Calls since then. */
    since: (from: number) => calls.slice(from).map(({ call }) => call),
  }
}

test('a set is read in slices of 25 members, with pauses, and returned when it is complete', async () => {
  const { poll, calls, since } = reader(61)
  expect(await poll(7n)).toEqual([])
  expect(calls).toHaveLength(26)
  expect(await poll(7n)).toEqual([])
  const sets = await poll(7n)
  expect(calls).toHaveLength(61)
  expect(since(0).slice(0, 2)).toEqual(['consensus', 'validator 1'])
  expect(calls.slice(1).map(({ at }, index) => at - (calls[index]?.at ?? 0))).toEqual(Array(60).fill(250))
  expect(sets).toHaveLength(1)
  expect(sets[0]?.members).toHaveLength(60)
  expect(sets[0]?.members[1]).toEqual({ secpKey: keyOf(2n), stake: 2n * WEI })
  // It is the same while the epoch lasts, without a call.
  expect(await poll(7n)).toBe(sets)
  expect(calls).toHaveLength(61)
})

test('in the delay the set in force is that of the snapshot view, and that of the next epoch is read once', async () => {
  const { poll, calls, since } = reader(5)
  expect(await poll(7n, true)).toMatchObject([{ epoch: 7n, members: { length: 5 } }])
  expect((await poll(7n, true))[0]?.members[4]?.stake).toBe(5n * WEI + 1n)
  expect(await poll(7n, true)).toMatchObject([{ epoch: 7n }, { epoch: 8n, members: { length: 4 } }])
  const from = calls.length
  expect(await poll(8n)).toMatchObject([{ epoch: 8n }])
  expect(await poll(8n, true)).toMatchObject([{ epoch: 8n }, { epoch: 9n }])
  expect(since(from)[0]).toBe('consensus')
  expect(since(from)).toHaveLength(5)
})

test('a boundary block in between: the set is read again in the other view', async () => {
  const { poll, calls, since } = reader(40)
  await poll(7n)
  const from = calls.length
  await poll(7n, true)
  expect(since(from).slice(0, 2)).toEqual(['snapshot', 'validator 1'])
})

test('after three failed calls a set is not read any more', async () => {
  const { poll, calls, control } = reader(5)
  control.isFailing = true
  for (let polls = 0; polls < 5; polls += 1) expect(await poll(7n)).toEqual([])
  expect(calls).toHaveLength(3)
  control.isFailing = false
  expect(await poll(7n)).toEqual([])
  expect(await poll(8n)).toMatchObject([{ epoch: 8n }])
})

test('slow calls end a slice', async () => {
  const { poll, calls } = reader(20, 1750)
  await poll(7n)
  // The set after 1.75 s, and a member each 2 s: the fifth is complete at 11.75 s.
  expect(calls).toHaveLength(6)
})

test('the staking collector reads it only if the files of the node have no set in force', async () => {
  const state = chainState()
  state.sets.consensus = [7n]
  const node = await startStakingNode(state)
  const chainSets = createChainSets()
  const { poll, clock } = stakingPoll(node.url, { chainSets, schedule: true })
  await poll()
  expect(node.seen.filter(({ call }) => call === 'getValidator')).toHaveLength(1)
  expect(chainSets.get()).toEqual([])
  chainSets.isMissing = true
  state.height += 1n
  const reading = poll()
  while (clock.untilNext() === undefined) await new Promise(setImmediate)
  await clock.advance(250)
  await reading
  expect(chainSets.get()).toEqual([{ epoch: 2n, members: [{ secpKey: KEY, stake: 10_500_000n * WEI }] }])
  await node.close()
})
