import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { type ClickHouse, probeClickHouse, startClickHouse } from '../support/clickhouse.ts'
import { eventually } from '../support/eventually.ts'
import { must, run } from '../support/programs.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { type Chain, chainOf, type Deployed } from './chain.ts'
import { type EvmNode, probeHardhat, startHardhat } from './hardhat.ts'
import { deployerOn, holdersOf, tokensOf } from './history.ts'
import { balancesCommand, MAIN, type Serving, startServing } from './processes.ts'
import { coinsOf, ownersOf } from './contract-balances.ts'

const describe = await requireRealPart('evm', async () => {
  const [hardhat, clickhouse] = await Promise.all([probeHardhat(), probeClickHouse()])
  if ('missing' in hardhat) return hardhat
  if ('missing' in clickhouse) return clickhouse
  return { version: `${hardhat.version}, ClickHouse ${clickhouse.version}` }
})

const API_KEY = 'key-of-who-asks-9f3c'
const KILLS = 3
const STORES = ['DuckDB', 'ClickHouse'] as const
type Store = (typeof STORES)[number]

const FIELDS = ['block_number', 'log_index', 'transaction_hash', 'transaction_index', 'address', 'data']
const logsSchema = z.array(
  z
    .object({
      address: z.string(),
      blockNumber: z.string(),
      logIndex: z.string(),
      transactionHash: z.string(),
      transactionIndex: z.string(),
      data: z.string(),
    })
    .transform(({ address, blockNumber, logIndex, transactionHash, transactionIndex, data }) => ({
      block_number: Number(blockNumber),
      log_index: Number(logIndex),
      transaction_hash: transactionHash,
      transaction_index: Number(transactionIndex),
      address: address.toLowerCase(),
      data,
    })),
)

describe('a self-hosted query service on a real chain', () => {
  let node: EvmNode
  let chain: Chain
  let clickhouse: ClickHouse
  let directory: string
  let coin: Deployed
  let nft: Deployed
  let multi: Deployed
  /** Of each store, the service that is running. */
  const running = new Map<Store, Serving>()

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'chain-agent-test-'))
    await writeFile(join(directory, 'keys'), `${API_KEY}\n`, { mode: 0o600 })
    const servers = startClickHouse(2)
    node = await startHardhat()
    chain = await chainOf(node.url)
    const deploy = await deployerOn(chain)
    coin = await deploy('Coin')
    nft = await deploy('Nft')
    multi = await deploy('Multi')
    for (let block = 0; block < 3; block += 1) await churn()
    clickhouse = await servers
    await writeFile(join(directory, 'password'), clickhouse.password.reveal(), { mode: 0o600 })
  })
  afterAll(async () => {
    await Promise.all([...running.values()].map((serving) => serving.stop('SIGKILL')))
    await clickhouse.stop()
    await node.stop()
    await rm(directory, { recursive: true, force: true })
  })

  /** A block of mints, transfers and burns. */
  const churn = () =>
    chain.send(
      [coin, nft, multi].map((to, index) => ({
        to,
        method: 'churn(uint256)',
        args: [[80n, 40n, 25n][index] ?? 0n],
      })),
    )

  /** Until it is ended: a block after the other. */
  const keepMining = () => {
    const stop = new AbortController()
    const mining = (async () => {
      while (!stop.signal.aborted) await churn()
    })()
    return async (): Promise<number> => {
      stop.abort()
      await mining
      return chain.height()
    }
  }

  const wordsOf = (store: Store): readonly string[] => {
    const words = ['--rpc-url', node.url, '--api-keys-file', join(directory, 'keys')]
    if (store === 'DuckDB') return [...words, '--store', join(directory, 'duckdb'), '--unbounded']
    const contracts = [coin, nft, multi].flatMap(({ address }) => ['--contract', address])
    const password = ['--store-password-file', join(directory, 'password')]
    return [...words, '--store', clickhouse.url, ...password, ...contracts]
  }
  const begin = async (store: Store, more: readonly string[] = []): Promise<Serving> => {
    const serving = await startServing([...wordsOf(store), ...more], API_KEY)
    running.set(store, serving)
    return serving
  }
  const servingOf = (store: Store): Serving => {
    const serving = running.get(store)
    if (serving === undefined) throw new Error(`no service is running on ${store}`)
    return serving
  }

  /** Killed repeatedly; each time it resumes from its last reported block. */
  const killOften = async (store: Store): Promise<void> => {
    let told = -1
    for (let kill = 0; kill < KILLS; kill += 1) {
      const serving = await begin(store)
      const found = await eventually(serving.height, (height) => height !== null, { every: 10 })
      expect(found).toBeGreaterThanOrEqual(told)
      told = await serving.reaches(Math.max(told, 2) + 2)
      expect(await serving.stop('SIGKILL')).toBeNull()
    }
    const serving = await begin(store)
    await serving.reaches(told)
  }

  it('resumes after kill -9 while blocks are added, and the balances match the chain', async () => {
    const endMining = keepMining()
    await Promise.all(STORES.map(killOften))
    const fixed = await chain.height()
    const holders = holdersOf(chain, coin)
    const truth = await coinsOf(chain, { contract: coin, holders, block: fixed })
    expect(truth.size).toBeGreaterThan(100)
    for (const store of STORES) {
      await servingOf(store).reaches(fixed)
      const { code, balances, output } = await ask(store, {
        standard: 'erc20',
        contract: coin,
        block: fixed,
      })
      expect(balances).toEqual(truth)
      expect({ code, ...output }).toMatchObject({ code: 0, complete: true, through: fixed })
    }
    expect(await endMining()).toBeGreaterThan(fixed)
  })

  interface Asked {
    readonly standard: 'erc20' | 'erc721'
    readonly contract: Deployed
    readonly block: number
  }

  const ask = (store: Store, { standard, contract, block }: Asked) => {
    const token = ['--standard', standard, '--token', contract.address, '--to-block', `${block}`]
    const words = ['--url', servingOf(store).url, ...token, '--verify', '5', '--rpc', node.url]
    return balancesCommand(words, API_KEY)
  }

  const logsOf = async (addresses: readonly Deployed[], block?: number) => {
    const [fromBlock, toBlock] =
      block === undefined ? ['0x0', 'latest'] : [`0x${block.toString(16)}`, `0x${block.toString(16)}`]
    const address = addresses.map((each) => each.address)
    return logsSchema.parse(await chain.ask('eth_getLogs', [{ fromBlock, toBlock, address }]))
  }

  it('serves raw requests in the spec dialect, and requires a key', async () => {
    const block = await chain.height()
    const expected = await logsOf([coin, nft], block)
    expect(expected.length).toBeGreaterThan(50)
    const body = {
      from_block: block,
      to_block: block,
      logs: [{ address: [coin.address, nft.address] }],
      field_selection: { log: FIELDS },
    }
    for (const store of STORES) {
      const serving = servingOf(store)
      await serving.reaches(block)
      const response = await serving.query(body)
      expect(await response.json()).toEqual({
        data: [{ block, logs: expected }],
        archive_height: block,
      })
      const refused = await serving.query(body, { authorization: 'Bearer another-key-entirely' })
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
      expect(await serving.ready()).toBe(200)
      const { value, text } = await serving.look()
      expect(value('chain_query_service_requests_total', { path: '/query', code: '401' })).toBe(1)
      // The filters in the headers of a real node match its logs.
      expect(text.match(/^chain_query_service_ingest_errors_total\{.*\} (?!0$).*$/gm)).toBeNull()
      expect(serving.output()).not.toMatch(/of-who-asks|another-key|of-the-test/)
    }
    // One service keeps three contracts alone, and does not answer for others with nothing.
    const wider = { ...body, logs: [{}] }
    expect((await servingOf('DuckDB').query(wider)).status).toBe(200)
    const refused = await servingOf('ClickHouse').query(wider)
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringMatching(/not_indexed/)])
  })

  it('stops gracefully, and serves the hosted dialect if configured', async () => {
    const height = await chain.height()
    const truth = await ownersOf(chain, { contract: nft, ids: tokensOf(chain, 'nft') })
    expect(truth.size).toBeGreaterThan(100)
    const expected = await logsOf([multi])
    const change = async (store: Store): Promise<void> => {
      expect(await servingOf(store).stop('SIGTERM')).toBe(0)
      expect(servingOf(store).output()).toMatch(/"msg":"Stopping"/)
      const serving = await begin(store, ['--dialect', 'hosted'])
      await serving.reaches(height)
      const response = await serving.query({
        from_block: height,
        to_block: height + 1,
        logs: [{ address: [multi.address], topics: [] }],
        field_selection: { log: ['log_index'], block: ['number'] },
      })
      expect(await response.json()).toMatchObject({
        data: [{ blocks: [{ number: height }] }],
        archive_height: height,
        next_block: height + 1,
        rollback_guard: { block_number: height },
      })
      const { balances } = await ask(store, { standard: 'erc721', contract: nft, block: height })
      expect(balances).toEqual(truth)
      const words = ['--url', serving.url, '--address', multi.address, '--fields', FIELDS.slice(2).join()]
      const rows = await must(process.execPath, [MAIN, 'query', ...words, '--quiet'], {
        env: { CHAIN_AGENT_API_KEY: API_KEY },
      })
      const lines = rows
        .trim()
        .split('\n')
        .map((line): unknown => JSON.parse(line))
      expect(lines).toEqual(expected)
    }
    await Promise.all(STORES.map(change))
  })

  it('serves its store while the node is unreachable, is not ready then, and accepts one chain and scope only', async () => {
    const height = await chain.height()
    const others = ['--contract', coin.address]
    await servingOf('DuckDB').stop()
    await servingOf('ClickHouse').stop()
    const words = [MAIN, 'serve-query', ...wordsOf('DuckDB'), ...others]
    const refused = await run(process.execPath, [
      ...words,
      '--listen',
      '127.0.0.1:0',
      '--metrics-listen',
      '127.0.0.1:0',
    ])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/^Could not open.*store/)])
    await node.stop()
    for (const store of STORES) {
      const serving = await begin(store)
      await serving.reaches(height)
      expect(await serving.ready()).toBe(503)
      expect(serving.output()).toMatch(/serving the existing store and retrying/)
      expect(
        (
          await serving.query({
            from_block: 0,
            logs: [{ address: [coin.address] }],
            field_selection: { log: ['data'] },
          })
        ).status,
      ).toBe(200)
      expect(await serving.stop()).toBe(0)
    }
  })
})
