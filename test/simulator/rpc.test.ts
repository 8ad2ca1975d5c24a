import { afterEach, describe, expect, test } from 'vitest'
import { createChain } from '../../simulator/chain.ts'
import { type ServedEndpoint as Port, serveEndpoint } from '../../simulator/endpoints.ts'
import { createRpcAnswer } from '../../simulator/rpc/rpc.ts'

const chain = createChain(5)
const servers: Port[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map(async (server) => server.shut()))
})

const serve = async (servesHeight = false): Promise<Port> => {
  const view = { chain, clientVersion: () => 'Word/1.2.3', latest: () => 1_000_000n }
  const answer = createRpcAnswer({ view, servesHeight })
  const server = await serveEndpoint({ isOpen: () => true, answer }, 0)
  servers.push(server)
  return server
}

const post = async ({ url }: Port, body: string) => {
  const response = await fetch(url, { method: 'POST', body })
  const json: unknown = await response.json()
  return { status: response.status, json }
}

const call = async (server: Port, method: string, params: readonly unknown[] = []) =>
  post(server, JSON.stringify({ jsonrpc: '2.0', id: 4, method, params }))

describe('the RPC of a simulated node', () => {
  test.each([
    ['eth_blockNumber', '0xf4240'],
    ['eth_chainId', '0x79a7'],
    ['net_version', '31143'],
    ['web3_clientVersion', 'Word/1.2.3'],
    ['eth_syncing', false],
  ])('answers %s', async (method, result) => {
    expect(await call(await serve(), method)).toEqual({
      status: 200,
      json: { jsonrpc: '2.0', id: 4, result },
    })
  })

  test.each([
    ['latest', '0xf4240'],
    ['safe', '0xf423f'],
    ['finalized', '0xf423e'],
    ['earliest', '0x0'],
    ['0xf4000', '0xf4000'],
  ])('shows the block %s', async (tag, number) => {
    const { json } = await call(await serve(), 'eth_getBlockByNumber', [tag, false])
    expect(json).toMatchObject({ result: { number, uncles: [] } })
  })

  test('links each block to the hash of the one before it', async () => {
    const server = await serve()
    const { json: block } = await call(server, 'eth_getBlockByNumber', ['0x10', false])
    const { json: parent } = await call(server, 'eth_getBlockByNumber', ['0xf', false])
    const hashes = [block, parent].map((json) => JSON.stringify(json))
    expect(hashes[0]).toMatch(/"parentHash":"0x[0-9a-f]{64}"/)
    expect(/"parentHash":"(\w+)"/.exec(hashes[0] ?? '')?.[1]).toBe(/"hash":"(\w+)"/.exec(hashes[1] ?? '')?.[1])
  })

  test('returns null for future blocks', async () => {
    const { json } = await call(await serve(), 'eth_getBlockByNumber', ['0xf4241', false])
    expect(json).toMatchObject({ result: null })
  })

  test('rejects like the node: with 200, and one code for many errors', async () => {
    const server = await serve()
    expect(await call(server, 'net_peerCount')).toEqual({
      status: 200,
      json: { jsonrpc: '2.0', id: 4, error: { code: -32601, message: 'Method not found' } },
    })
    const parse = { jsonrpc: '2.0', id: null, error: { code: -32601, message: 'Parse error' } }
    expect(await post(server, '{"id":')).toEqual({ status: 200, json: parse })
    expect(await post(server, '{"method":"eth_chainId"}')).toEqual({ status: 200, json: parse })
    const batch = '[{"id":1,"method":"eth_syncing"},{"id":"b","method":"eth_chainId"}]'
    expect((await post(server, batch)).json).toMatchObject([{ id: 1 }, { id: 'b' }])
    expect((await fetch(server.url)).status).toBe(405)
  })

  test('refuses connections while closed, and returns on the same port', async () => {
    const server = await serve()
    await server.shut()
    await expect(call(server, 'eth_chainId')).rejects.toThrow('fetch failed')
    await server.open()
    expect((await call(server, 'eth_chainId')).status).toBe(200)
  })

  test('a reference also reports the height of the newest final block', async () => {
    const { url } = await serve(true)
    expect(await (await fetch(`${url}/height`)).json()).toEqual({ height: 999_998 })
    expect((await fetch(`${(await serve()).url}/height`)).status).toBe(404)
  })
})
