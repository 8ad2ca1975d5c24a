import { describe, expect, test } from 'vitest'
import { createChain } from '../../simulator/chain.ts'
import { createRpcAnswer } from '../../simulator/rpc/rpc.ts'

const ERC20 = '0x70ce000000000000000000000000000000000001'
const ERC721 = '0x70ce000000000000000000000000000000000002'
const ERC1155 = '0x70ce000000000000000000000000000000000003'
const ZERO = `0x${'0'.repeat(64)}`
const FIRST = `0x${'a1'.repeat(20).padStart(64, '0')}`
const SECOND = `0x${'b2'.repeat(20).padStart(64, '0')}`

const view = {
  chain: createChain(5),
  clientVersion: () => 'Word/1.2.3',
  // 1,001,000 = 5 · 7 · 11 · 2,600: the newest block has the events of all three tokens.
  latest: () => 1_001_000n,
}
const answer = createRpcAnswer({ view, servesHeight: false })

const post = (body: string): unknown => {
  const { status, text } = answer({ method: 'POST', path: '/', body })
  expect(status).toBe(200)
  const reply: unknown = JSON.parse(text)
  return reply
}
const call = (method: string, ...params: readonly unknown[]): unknown =>
  post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
const logs = (filter: Readonly<Record<string, unknown>>): unknown => call('eth_getLogs', filter)

const at = (block: number): string => `0x${block.toString(16)}`

describe('token logs of the simulated node', () => {
  test('the log index runs through all contracts of a block', () => {
    const all = { fromBlock: 'latest', toBlock: 'latest' }
    expect(logs({ ...all, address: [ERC721, ERC1155] })).toMatchObject({
      result: [3, 4, 5, 6, 7, 8, 9, 10].map((index) => ({ logIndex: `0x${index.toString(16)}` })),
    })
    expect(logs({ ...all, address: [ERC20], topics: [null, [SECOND, ZERO], FIRST] })).toMatchObject({
      result: [{ logIndex: '0x0' }],
    })
  })

  test('a topic that a log does not have does not match', () => {
    expect(logs({ fromBlock: at(1_000_995), toBlock: at(1_000_995), topics: [null, null, null, ZERO] })).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: [],
    })
  })

  test('a block hash selects its block, and an address in capitals matches', () => {
    const header = JSON.stringify(call('eth_getBlockByNumber', at(1_000_995), false))
    const [, hash] = /"hash":"(0x[0-9a-f]{64})"/.exec(header) ?? []
    expect(logs({ blockHash: hash, address: ERC20.toUpperCase().replace('X', 'x') })).toMatchObject({
      result: [{ blockHash: hash }, { blockHash: hash }, { blockHash: hash }],
    })
    const unknown = `${hash?.slice(0, -1)}f`
    expect(logs({ blockHash: unknown })).toMatchObject({ error: { message: 'Invalid params' } })
  })

  test.each([
    [{ fromBlock: at(1000), toBlock: at(2001) }, 'block range too large'],
    [{ fromBlock: at(1001), toBlock: at(1000) }, 'invalid block range'],
    [{ fromBlock: 'yesterday' }, 'Invalid params'],
    [{ address: 5 }, 'Invalid params'],
    [{ topics: 'none' }, 'Invalid params'],
  ])('%j is refused: %s', (filter, message) => {
    expect(logs(filter)).toEqual({ jsonrpc: '2.0', id: 1, error: { code: -32602, message } })
  })
})

test('the RPC rejects like the node: with 200, and one code for many errors', () => {
  const error = (id: number | null, message: string) => ({ jsonrpc: '2.0', id, error: { code: -32601, message } })
  expect(call('net_peerCount')).toEqual(error(1, 'Method not found'))
  for (const body of ['{"id":', '{"method":"eth_chainId"}']) expect(post(body)).toEqual(error(null, 'Parse error'))
  expect(post('[{"id":1,"method":"eth_syncing"},{"id":"b","method":"eth_chainId"}]')).toMatchObject([
    { id: 1 },
    { id: 'b' },
  ])
  expect(answer({ method: 'GET', path: '/', body: '' }).status).toBe(405)
})
