import { describe, expect } from 'vitest'
import { isObject } from '../../src/core/json.ts'
import { alter } from '../support/query-server.ts'
import { fetchAll, fetchWhole, it, queriesTo, steadyLogs } from './client-fixtures.ts'

const reply = (error: { readonly code: number; readonly message: string; readonly data?: unknown }) =>
  ({ kind: 'reply', status: 200, body: JSON.stringify({ jsonrpc: '2.0', id: 1, error }) }) as const

describe('an RPC with eth_queryLogs', () => {
  it('is detected with the first height, once', async ({ serve }) => {
    const { url, seen } = await serve({ rpc: {} })
    await fetchAll(url)
    expect(seen.map(({ path }) => path)).toEqual(['/height', '/query', '/query'])
    expect(seen[0]?.body).toContain('eth_queryBlocks')
  })

  it('reports its limits in an error, which later requests observe', async ({ serve }) => {
    const server = await serve({ logs: steadyLogs(1, 900), rpc: { maxLimit: 50, maxBlockRange: 60 } })
    await fetchWhole(server)
    const queries = server.seen.filter(({ path }) => path === '/query')
    // 10,000 logs; then 50.
    expect(queries.map(({ body }) => /"limit":"(\w+)"/.exec(body)?.[1])).toEqual([
      '0x2710',
      ...queries.slice(1).map(() => '0x32'),
    ])
    expect(queries.slice(1).filter(({ from, to }) => (to ?? 0) - from + 1 > 60)).toEqual([])
  })

  it('a response above the size limit of the node: requests fewer blocks', async ({ serve }) => {
    const server = await serve({ rpc: {} })
    server.faults = ({ path, from, to }) =>
      path === '/query' && (to ?? 0) - from > 10
        ? reply({ code: -32_603, message: 'response exceeds size limit' })
        : undefined
    await fetchWhole(server)
  })

  it('an instance that is behind has no page, and the run fails without a gap', async ({ serve }) => {
    const server = await serve({ rpc: { maxLimit: 10 } })
    server.faults = ({ path, nth }) => {
      if (path === '/query' && nth > 1) server.chain.setHeight(10)
      return undefined
    }
    const fetched = await fetchAll(server.url)
    expect(fetched.error).toMatchObject({ kind: 'no-progress' })
  })

  it.for([
    ['cursorBlock', { number: '0x1f', hash: `0x${'1'.repeat(64)}`, parentHash: `0x${'2'.repeat(64)}` }, 'not within'],
    [
      'cursorBlock',
      { number: '0x2', hash: `0x${'1'.repeat(64)}`, parentHash: `0x${'2'.repeat(64)}` },
      'different chains',
    ],
    ['fromBlock', { number: '0x1' }, 'not a block with hashes'],
  ] as const)('rejects a wrong %s: %o', async ([key, value, why], { serve }) => {
    const server = await serve({ rpc: { maxLimit: 10_000 } })
    const wrong = alter(({ result, ...rest }) => ({ ...rest, result: isObject(result) && { ...result, [key]: value } }))
    server.faults = ({ path }) => (path === '/query' ? wrong : undefined)
    const fetched = await fetchAll(server.url)
    expect(String(fetched.error)).toContain(why)
    expect(fetched.error).toMatchObject({ kind: 'protocol' })
  })

  it('without the method: the error names it', async ({ serve }) => {
    const server = await serve({ rpc: {}, faults: () => reply({ code: -32_601, message: 'Method not found' }) })
    const fetched = await fetchAll(server.url)
    expect(fetched.error).toMatchObject({ kind: 'fatal' })
    expect(String(fetched.error)).toContain('it is an RPC without eth_queryLogs')
  })

  it('without a block yet: the error is that of the RPC', async ({ serve }) => {
    const message = 'chain-data error: missing data: no published blocks'
    const server = await serve({ rpc: {}, faults: () => reply({ code: -32_603, message }) })
    const fetched = await fetchAll(server.url)
    expect(String(fetched.error)).toContain(message)
  })

  it('neither a query service nor an RPC: the error of GET /height stays', async ({ serve }) => {
    const server = await serve({ prefix: '/logs' })
    const fetched = await fetchAll(new URL(server.url).origin)
    expect(String(fetched.error)).toContain('it answered 404')
    expect(queriesTo(server)).toBe(0)
  })
})
