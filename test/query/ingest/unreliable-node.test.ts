import { describe, expect } from 'vitest'
import { StoreError } from '../../../query/store/errors.ts'
import type { LogStore } from '../../../query/store/store.ts'
import { jumpingClock } from '../../support/jumping-clock.ts'
import { hex, type RpcLog } from '../../support/rpc-node.ts'
import { changed, has, ingestUntil, ingestWhole, it, NO_ERRORS, refused, result, to, watchedStore } from './fixtures.ts'

describe('several nodes at one address', () => {
  it('do not make a proposal count as final', async ({ startNode }) => {
    const from = await startNode({ height: 40 })
    const other = { hash: `0x${'ab'.repeat(32)}`, logsBloom: null }
    from.faults = ({ method, params, nth }) => {
      if (params[0] === '0x28' && nth < 50) return changed(other)
      if (method !== 'eth_getLogs' || nth > 2) return undefined
      const change = (right: unknown): unknown =>
        (Array.isArray(right) ? right : []).map((log: RpcLog) =>
          log.blockNumber === '0x28' ? { ...log, blockHash: other.hash } : log,
        )
      return { kind: 'result', change }
    }
    const { state } = await ingestWhole(from)
    expect(state.errors.unlinked).toBe(1)
  })

  it('do not stop the ingest because of a proposal, if one of them is behind', async ({ startNode }) => {
    const from = await startNode({ height: 20 })
    const { appended, store } = watchedStore()
    await ingestUntil({ node: from, store }, has(20))
    from.chain.setHeight(40)
    const behind = from.seen.length + 3
    // Another node reported the chain head; this one returns eight headers and its own block 20.
    from.faults = ({ method, params }) => {
      if (from.seen.length <= behind || from.seen.length > behind + 10) return undefined
      if (method !== 'eth_getBlockByNumber') return undefined
      if (params[0] === 'finalized') return result(from.chain.header(18))
      const number = Number(params[0])
      return changed({
        hash: `0x${'ab'.repeat(30)}${hex(number).slice(2).padStart(4, '0')}`,
        parentHash: `0x${'ab'.repeat(30)}${hex(number - 1)
          .slice(2)
          .padStart(4, '0')}`,
        number: hex(number),
      })
    }
    const { error, state } = await ingestUntil({ node: from, store }, has(40))
    expect({ error, unlinked: state.errors.unlinked }).toEqual({ error: undefined, unlinked: 1 })
    expect(appended.flat()).toHaveLength(41)
  })
})

describe('a store whose response is lost', () => {
  it('is read again, and no block is added twice', async ({ startNode }) => {
    const from = await startNode({ height: 60 })
    const { appended, store } = watchedStore()
    let tries = 0
    const losing: LogStore = {
      ...store,
      append: async (blocks) => {
        await store.append(blocks)
        tries += 1
        const happened = 'no answer in time'
        if (tries === 2) throw new StoreError('unavailable', { doing: 'add blocks', happened })
      },
    }
    const { state } = await ingestUntil({ node: from, store: losing }, has(60))
    expect(state.errors.store).toBe(1)
    expect(appended.flat().map(({ number }) => number)).toEqual(to(60))
  })
})

describe('the tag "finalized"', () => {
  it('is not abandoned after one error', async ({ startNode }) => {
    const from = await startNode({ height: 40 })
    from.faults = ({ params, nth }) =>
      params[0] === 'finalized' && nth === 0
        ? refused('internal error: failed to parse the header', -32_603)
        : undefined
    const { notices, state } = await ingestWhole(from)
    expect({ notices, refused: state.errors.refused }).toEqual({ notices: [], refused: 1 })
  })

  it('is tried again after ten minutes', async ({ startNode }) => {
    const from = await startNode({ height: 50 })
    let isKnown = false
    from.faults = ({ params }) => (params[0] === 'finalized' && !isKnown ? refused('unknown block tag') : undefined)
    const clock = jumpingClock()
    const { store } = watchedStore()
    const { notices, state } = await ingestUntil({ node: from, store, clock }, ({ indexed }) => {
      if (indexed === 18) {
        isKnown = true
        clock.expire()
      }
      return indexed === 50
    })
    expect(state.indexed).toBe(50)
    expect(notices).toHaveLength(1)
  })
})

describe('a node without batch support', () => {
  it.for([
    ['one answer', '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request"}}'],
    ['a list of one', '[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}]'],
    ['that it is too much', '{"jsonrpc":"2.0","error":{"code":-32600,"message":"batch size exceeded"}}'],
  ] as const)('is asked so, where it refuses more with %s', async ([, body], { startNode }) => {
    const from = await startNode({ height: 40 })
    from.faults = ({ of }) => (of > 1 ? { kind: 'reply', status: 200, body } : undefined)
    const { state } = await ingestWhole(from)
    expect(state.errors).toEqual(NO_ERRORS)
  })
})

describe('a slow node', () => {
  it('gets smaller header batches after a timeout', async ({ startNode }) => {
    const from = await startNode({ height: 40 })
    const clock = jumpingClock()
    from.faults = ({ of }) => {
      if (of <= 5) return undefined
      isHanging = true
      return { kind: 'hang' }
    }
    let isHanging = false
    const expiring = setInterval(() => {
      if (isHanging) clock.expire()
      isHanging = false
    }, 5)
    try {
      const { state } = await ingestWhole(from, { clock })
      // Eight headers, then four; more is tried again, but seldom.
      expect(state.errors.unreachable).toBeLessThan(5)
    } finally {
      clearInterval(expiring)
    }
  })

  it('gets smaller ranges after a slow response', async ({ startNode }) => {
    const from = await startNode({ height: 87, logsIn: () => 0 })
    const clock = jumpingClock()
    let elapsed = 0
    const ticking = { ...clock, elapsed: () => (elapsed += 6000) }
    const { store, appended } = watchedStore()
    await ingestUntil({ node: from, store, clock: ticking }, has(87))
    expect(appended.map((blocks) => blocks.length)).toEqual([8, 16, 32, 16, 16])
  })
})
