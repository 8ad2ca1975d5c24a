import { describe, expect } from 'vitest'
import { readChainId } from '../../../query/service/ingest/headers.ts'
import { StoreError } from '../../../query/store/errors.ts'
import { jumpingClock } from '../../support/jumping-clock.ts'
import { memoryStore } from '../../support/memory-store.ts'
import { hex, type RpcNode } from '../../support/rpc-node.ts'
import { callsOf, has, ingestUntil, it, NO_ERRORS, result, storeCalling, to, watchedStore } from './fixtures.ts'

const methods = (from: RpcNode): ReadonlySet<string> => new Set(from.seen.map(({ method }) => method))

describe('the ingest stops', () => {
  it('if a final block was replaced, and keeps the stored blocks', async ({ startNode }) => {
    const from = await startNode({ height: 20 })
    const { appended, store } = watchedStore()
    await ingestUntil({ node: from, store }, has(20))
    const held = from.chain.hash(20)
    from.chain.fork(15)
    from.chain.setHeight(30)
    const { error, state } = await ingestUntil({ node: from, store }, has(30))
    expect(String(error)).toContain('continue after block 20')
    expect(String(error)).toContain('store: 0xb0000000…, node: 0xb1000000…')
    expect(state).toMatchObject({ phase: 'stopped', indexed: 20 })
    expect(state.errors.unlinked).toBe(1)
    expect(appended.flat()).toHaveLength(21)
    expect(await store.range()).toMatchObject({ last: 20, lastHash: held })
  })

  it('not after a single wrong parent hash', async ({ startNode }) => {
    const from = await startNode({ height: 20 })
    const { appended, store } = watchedStore()
    await ingestUntil({ node: from, store }, has(20))
    from.chain.setHeight(30)
    let isWrong = true
    from.faults = ({ params }) => {
      if (params[0] !== hex(21) || !isWrong) return undefined
      isWrong = false
      const parentHash = from.chain.hash(7)
      return { kind: 'result', change: () => ({ ...from.chain.header(21), parentHash }) }
    }
    const { error, state } = await ingestUntil({ node: from, store }, has(30))
    expect({ error, unlinked: state.errors.unlinked }).toEqual({ error: undefined, unlinked: 1 })
    expect(appended.flat()).toHaveLength(31)
  })

  it('if the node is of another chain', async ({ startNode }) => {
    const from = await startNode({ height: 20, chainId: 1 })
    const { store, appended } = watchedStore(memoryStore(143))
    const { error, state } = await ingestUntil({ node: from, store }, has(20))
    expect(String(error)).toContain('store: 143, node: 1')
    expect(state.trouble).toContain('different chains')
    expect(appended).toEqual([])
  })

  it('if the store is broken, but not if it is unavailable', async ({ startNode }) => {
    const from = await startNode({ height: 60 })
    const account = { doing: 'add blocks', happened: 'the disk is full' }
    for (const kind of ['broken', 'conflict', 'unavailable'] as const) {
      let tries = 0
      const { store, appended } = storeCalling((nth) => {
        tries = nth
        if (nth === 2) throw new StoreError(kind, account)
      })
      const { error, state } = await ingestUntil({ node: from, store }, has(60))
      expect(state.errors.store).toBe(1)
      if (kind === 'unavailable') expect(appended.flat()).toHaveLength(61)
      // Nothing is added behind what was not.
      else expect({ error, tries }).toMatchObject({ error: { kind }, tries: 2 })
    }
  })
})

describe('the retry delay of the ingest grows', () => {
  const full = new StoreError('unavailable', { doing: 'add blocks', happened: 'the disk is full' })
  const seconds = (waits: readonly number[]): readonly number[] => waits.map((ms) => ms / 1000)

  it('while nothing can be written, even if blocks can be read', async ({ startNode }) => {
    const from = await startNode({ height: 60 })
    const store = { ...memoryStore(), append: () => Promise.reject(full) }
    const { waits } = await ingestUntil({ node: from, store }, ({ errors }) => errors.store === 9)
    expect(seconds(waits)).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
  })

  it('until a block is written', async ({ startNode }) => {
    const from = await startNode({ height: 60 })
    const { store, appended } = storeCalling((nth) => {
      if (nth <= 3 || nth === 5) throw full
    })
    const { waits } = await ingestUntil({ node: from, store, maxRange: 8 }, has(60))
    expect(seconds(waits)).toEqual([1, 2, 4, 1])
    expect(appended.flat()).toHaveLength(61)
  })

  it('until there is nothing to do', async ({ startNode }) => {
    const from = await startNode({ height: 20 })
    const clock = jumpingClock()
    from.faults = ({ method, nth }) =>
      method === 'eth_chainId' && [3, 4, 6].includes(nth) ? { kind: 'reply', status: 429, body: '' } : undefined
    const { store } = watchedStore()
    const isAsked = (): boolean => callsOf(from, 'eth_chainId').length > 7
    await ingestUntil({ node: from, store, clock }, isAsked)
    // Polled with the blocks (0), each second after them (1, 2), two failures (3, 4), success (5), failure (6),
    // success.
    expect(seconds(clock.waits)).toEqual([1, 1, 1, 1, 2, 1, 1])
  })
})

describe('the ingest waits and polls only the state of the node', () => {
  const NOW = 1_700_000_000

  it('while the newest block is old', async ({ startNode }) => {
    const from = await startNode({ height: 20, timeOf: () => NOW - 61 })
    const { store, appended } = watchedStore()
    const { state, waits } = await ingestUntil(
      { node: from, store },
      ({ trouble }) => trouble !== null && from.seen.length > 10,
    )
    expect(state.trouble).toBe('the node is behind: its newest block is old')
    expect(state).toMatchObject({ nodeHeight: 20, indexed: null })
    expect(appended).toEqual([])
    expect(new Set(waits)).toEqual(new Set([15_000]))
    expect(methods(from)).toEqual(new Set(['eth_chainId', 'eth_getBlockByNumber']))
    const asked = callsOf(from, 'eth_getBlockByNumber')
    expect(new Set(asked.map(({ params }) => params[0]))).toEqual(new Set(['finalized', 'latest']))
  })

  it('not if only the final block is old, or if behindAfter is null', async ({ startNode }) => {
    const from = await startNode({ height: 20, timeOf: (block) => (block > 18 ? NOW : NOW - 3600) })
    from.faults = ({ params }) => (params[0] === 'finalized' ? result(from.chain.header(18)) : undefined)
    const { store } = watchedStore()
    expect((await ingestUntil({ node: from, store }, has(18))).state.indexed).toBe(18)
    const old = await startNode({ height: 20, timeOf: () => 1000 })
    const other = watchedStore()
    const options = { node: old, store: other.store, behindAfter: null }
    expect((await ingestUntil(options, has(20))).state.indexed).toBe(20)
  })

  it('while the node has fewer blocks than the store, and then resumes', async ({ startNode }) => {
    const from = await startNode({ height: 20 })
    const { store, appended } = watchedStore()
    await ingestUntil({ node: from, store }, has(20))
    from.chain.setHeight(15)
    const { state } = await ingestUntil({ node: from, store }, ({ trouble }) => trouble !== null)
    expect(state.trouble).toBe("the node's final block is below the last block in the store")
    expect(state).toMatchObject({ nodeHeight: 15, indexed: 20, first: 0 })
    from.chain.setHeight(22)
    await ingestUntil({ node: from, store }, has(22))
    expect(appended.flat().map(({ number }) => number)).toEqual(to(22))
  })

  it('while no block is final, however the node reports it, or the first block is not', async ({ startNode }) => {
    const from = await startNode({ height: 20 })
    from.faults = ({ params, nth }) => {
      if (params[0] !== 'finalized' || nth > 1) return undefined
      return nth === 0 ? result(null) : { kind: 'error', code: -39_001, message: 'finalized block not found' }
    }
    const { store } = watchedStore()
    const { waits, notices, state } = await ingestUntil({ node: from, store }, has(20))
    expect({ waits: waits.slice(0, 2), notices }).toEqual({ waits: [1000, 1000], notices: [] })
    expect(state.errors).toEqual(NO_ERRORS)
    const other = watchedStore()
    const options = { node: from, store: other.store, fromBlock: 25 }
    const early = await ingestUntil(options, ({ trouble }) => trouble !== null)
    expect(early.state.trouble).toBe('the first block to index is not final yet')
  })
})

describe('final blocks', () => {
  it('are those behind the newest block if the node does not support the tag, and this is logged', async ({
    startNode,
  }) => {
    const from = await startNode({ height: 50 })
    from.faults = ({ params }) =>
      params[0] === 'finalized'
        ? {
            kind: 'error',
            code: -32_602,
            message: 'invalid argument 0: hex string without 0x prefix',
          }
        : undefined
    const { store } = watchedStore()
    const { state, notices } = await ingestUntil({ node: from, store }, has(18))
    expect(state).toMatchObject({ indexed: 18, nodeHeight: 18 })
    expect(notices).toEqual([
      'the node does not support the tag "finalized": blocks that are 32 behind its newest block count as final',
    ])
    from.chain.setHeight(52)
    const later = await ingestUntil({ node: from, store, depth: 2 }, has(50))
    expect(later.state.indexed).toBe(50)
  })
})

describe('the chain id', () => {
  it('is read from the node, and never assumed', async ({ startNode }) => {
    const from = await startNode({ chainId: 10_143 })
    const options = { rpcUrl: from.url, clock: jumpingClock(10_000) }
    const { signal } = new AbortController()
    expect(await readChainId(options, signal)).toBe(10_143)
    for (const wrong of ['143', hex(2 ** 60), null, '', '0x']) {
      from.faults = () => result(wrong)
      await expect(readChainId(options, signal)).rejects.toMatchObject({ kind: 'invalid' })
    }
  })
})
