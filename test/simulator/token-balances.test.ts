import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../src/core/clock.ts'
import { createChain } from '../../simulator/chain.ts'
import { type ServedEndpoint, serveEndpoint } from '../../simulator/endpoints.ts'
import { createRpcAnswer } from '../../simulator/rpc/rpc.ts'
import { cli } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { memoryStore } from '../support/memory-store.ts'
import { type QueryService, startQueryService } from '../support/query-service.ts'

const ERC20 = '0x70ce000000000000000000000000000000000001'
const ERC721 = '0x70ce000000000000000000000000000000000002'
const ERC1155 = '0x70ce000000000000000000000000000000000003'
const FIRST = `0x${'a1'.repeat(20)}`
const SECOND = `0x${'b2'.repeat(20)}`

/** 110 blocks up to the final one, which is two behind the newest. */
const FROM = 1_000_889
const FINAL = 1_000_998

const outputSchema = z.object({
  complete: z.literal(true),
  partial: z.literal(false),
  nonConserving: z.literal(false),
  through: z.number(),
  balances: z.array(z.object({ address: z.string(), id: z.string().optional(), balance: z.string() })),
})

let node: ServedEndpoint
let service: QueryService

beforeAll(async () => {
  const view = { chain: createChain(5), clientVersion: () => 'W/1', latest: () => 1_001_000n }
  const answer = createRpcAnswer({ view, servesHeight: false })
  node = await serveEndpoint({ isOpen: () => true, answer }, 0)
  service = await startQueryService({
    rpcUrl: node.url,
    store: memoryStore(31_143),
    // The request timeout is the real one: under load a request may take longer than a fast clock allows.
    clock: systemClock,
    settings: { contracts: [ERC20, ERC721, ERC1155], fromBlock: FROM },
  })
  await eventually(service.look, ({ value }) => value('chain_query_service_height') === FINAL)
})
afterAll(async () => {
  await service.stop()
  await node.shut()
})

/** `blocks` of them from FROM on. */
const balancesOf = async (standard: string, token: string, blocks: number) => {
  const range = ['--created-in', `${FROM}`, '--to-block', `${FROM + blocks - 1}`]
  const asked = ['balances', '--url', service.url, '--standard', standard, '--token', token]
  const { code, out, err } = await cli([...asked, ...range, '--format', 'json', '--quiet'])
  expect(code).toBe(0)
  expect(err).toMatch(/^Unverified: [^:]+$/)
  return outputSchema.parse(JSON.parse(out))
}

describe('balances of the simulated tokens, through serve-query', () => {
  test('ERC-20: 100 blocks have 20 events, each of +6 and +3', async () => {
    expect((await balancesOf('erc20', ERC20, 100)).balances).toEqual([
      { address: FIRST, balance: '120000000000000000000' },
      { address: SECOND, balance: '60000000000000000000' },
    ])
  })

  test('ERC-721: 14 blocks have two events, and each leaves one id to either holder', async () => {
    // 1,000,895 = 7 · 142,985, and 1,000,902.
    expect((await balancesOf('erc721', ERC721, 14)).balances).toEqual([
      { address: FIRST, id: '3002685', balance: '1' },
      { address: SECOND, id: '3002686', balance: '1' },
      { address: FIRST, id: '3002706', balance: '1' },
      { address: SECOND, id: '3002707', balance: '1' },
    ])
  })

  test('ERC-1155: 110 blocks have 10 events', async () => {
    const { balances, through } = await balancesOf('erc1155', ERC1155, 110)
    expect(balances).toEqual([
      { address: FIRST, id: '1', balance: '60' },
      { address: SECOND, id: '1', balance: '30' },
      { address: FIRST, id: '2', balance: '200' },
    ])
    expect(through).toBe(FINAL)
  })

  test('the ingest found every block complete and linked', async () => {
    const { text } = await service.look()
    const errors = text.match(/^chain_query_service_ingest_errors_total\{.*\} [1-9].*$/gm)
    expect(errors).toBe(null)
    expect(service.lines.filter((line) => !line.startsWith('info'))).toEqual([])
  })
})
