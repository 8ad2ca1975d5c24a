import { describe, expect } from 'vitest'
import type { Clock } from '../../../src/core/clock.ts'
import { jumpingClock } from '../../support/jumping-clock.ts'
import type { RpcLog, RpcNode } from '../../support/rpc-node.ts'
import { callsOf, inBoth, ingestUntil, isOf, it, type StartNode, to, watchedStore, without } from './fixtures.ts'

const MINUTE = 60_000

describe('a block with a part of its logs in both answers, with all addresses and topics of the rest', () => {
  const isAfterThird = (block: number) => (log: RpcLog) => isOf(block)(log) && Number(log.logIndex) > 2
  /** Blocks of seven logs, of which the first three have all addresses and topics. */
  const partly = async (startNode: StartNode, seconds: number, isOver: (clock: Clock, node: RpcNode) => boolean) => {
    const node = await startNode({ height: 40, logsIn: () => 7 })
    const clock = jumpingClock()
    node.faults = (call) => (clock.elapsed() < seconds * 1000 ? inBoth(without(isAfterThird(7)))(call) : undefined)
    const { appended, store } = watchedStore()
    const ran = await ingestUntil({ node, store, clock, pollEvery: 10_000 }, () => isOver(clock, node))
    expect(appended.flat()[7]?.logs).toHaveLength(3)
    const heads = await store.heads(to(node.chain.height))
    return { ...ran, node, kept: heads.map(({ kept }) => kept) }
  }

  it('is corrected when it is read again, after 15 s', async ({ startNode }) => {
    const { state, warnings, kept, node } = await partly(startNode, 8, (clock) => clock.elapsed() > 20_000)
    expect(kept).toEqual(to(40).map(() => 7))
    expect(state.corrected).toBe(1)
    expect(warnings).toEqual([expect.stringContaining('block 7 has 7 logs, and the node returned 3 of them before')])
    // 41 blocks twice, in ranges: the second reading is not a request per block.
    expect(callsOf(node, 'eth_getLogs').length).toBeLessThanOrEqual(10)
  })

  it('or after ten minutes', async ({ startNode }) => {
    const { state, kept } = await partly(startNode, 60, (clock) => clock.elapsed() > 11 * MINUTE)
    expect(kept).toEqual(to(40).map(() => 7))
    expect(state.corrected).toBe(1)
  })

  it('is left as it is by a node that then returns fewer, or does not respond', async ({ startNode }) => {
    const node = await startNode({ height: 40, logsIn: () => 7 })
    const clock = jumpingClock()
    node.faults = (call) => {
      const faults = clock.elapsed() > 5 * MINUTE ? inBoth(without(isAfterThird(7)))(call) : undefined
      const isReadAgain = clock.elapsed() >= 15_000 && call.method !== 'eth_chainId'
      return clock.elapsed() < 30_000 && isReadAgain ? { kind: 'cut' } : faults
    }
    const { appended, store } = watchedStore()
    const { state, error } = await ingestUntil(
      { node, store, clock, pollEvery: 10_000 },
      () => clock.elapsed() > 12 * MINUTE,
    )
    expect(clock.elapsed()).toBeGreaterThan(12 * MINUTE)
    expect(error).toBeUndefined()
    expect(appended.flat()).toEqual(to(40).map(node.chain.block))
    expect((await store.heads([7])).map(({ kept }) => kept)).toEqual([7])
    expect(state.corrected).toBe(0)
  })
})
