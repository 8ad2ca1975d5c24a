import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import type { Standard } from '../../query/tokens/types.ts'
import { type QueryServer, startQueryServer } from '../support/query-server.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { type Chain, chainOf, type Deployed } from './chain.ts'
import { type Balances, coinsOf, kindsOf, ownersOf } from './contract-balances.ts'
import { type EvmNode, probeHardhat, startHardhat } from './hardhat.ts'
import { type History, holdersOf, makeHistory, tokensOf } from './history.ts'
import { balancesCommand } from './processes.ts'

const describe = await requireRealPart('evm', probeHardhat)

const API_KEY = 'key-of-the-chain'
const DIALECTS = ['spec', 'hosted'] as const
type Dialect = (typeof DIALECTS)[number]

const logSchema = z
  .object({
    blockNumber: z.string(),
    logIndex: z.string(),
    address: z.string(),
    topics: z.array(z.string()),
    data: z.string(),
  })
  .transform(({ blockNumber, logIndex, ...log }) => ({ ...log, block: Number(blockNumber), index: Number(logIndex) }))

/** All logs of the chain behind a query service of the dialect. */
const serve = async (chain: Chain, dialect: Dialect): Promise<QueryServer> => {
  const logs = z.array(logSchema).parse(await chain.ask('eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }]))
  const options = { dialect, apiKey: API_KEY, pageLogs: 700, logs, height: await chain.height() }
  return startQueryServer({ ...options, ...(dialect === 'hosted' && { packing: 'gzip' as const }) })
}

describe('balances from the logs of real contracts', () => {
  let node: EvmNode
  let chain: Chain
  let history: History
  const servers = new Map<Dialect, QueryServer>()

  beforeAll(async () => {
    node = await startHardhat()
    chain = await chainOf(node.url)
    history = await makeHistory(chain)
    for (const dialect of DIALECTS) servers.set(dialect, await serve(chain, dialect))
  })
  afterAll(async () => {
    for (const server of servers.values()) await server.close()
    await node.stop()
  })

  /** By the command. */
  const rebuild = (standard: Standard, { address }: Deployed, words: readonly string[] = []) =>
    balancesCommand(['--url', urlOf('hosted'), '--standard', standard, '--token', address, ...words], API_KEY)
  const urlOf = (dialect: Dialect): string => servers.get(dialect)?.url ?? ''
  const verifying = (): readonly string[] => ['--verify', '20', '--rpc', node.url]

  /** In both dialects of the service. */
  const expectTruth = async (standard: Standard, contract: Deployed, truth: Balances) => {
    expect(truth.size).toBeGreaterThan(100)
    for (const dialect of DIALECTS) {
      const { code, output, balances, stderr } = await rebuild(standard, contract, [
        ...verifying(),
        '--url',
        urlOf(dialect),
      ])
      expect(balances).toEqual(truth)
      expect(stderr).toBe('Verified: 20 of 20 match the contract.')
      expect({ code, ...output }).toMatchObject({
        code: 0,
        complete: true,
        partial: false,
        nonConserving: false,
        hybrid: false,
        through: await chain.height(),
        verified: { asked: 20, equal: 20, different: [] },
        stats: { malformed: 0, unrequested: 0, wrongStandard: 0 },
      })
    }
  }

  it('match balanceOf: ERC-20', async () => {
    const { coin } = history
    await expectTruth('erc20', coin, await coinsOf(chain, { contract: coin, holders: holdersOf(chain, coin) }))
    const [supply] = await chain.read([{ to: coin, method: 'totalSupply()', args: [] }])
    expect((await rebuild('erc20', coin)).output.supply).toBe(String(supply))
  })

  it('match ownerOf: ERC-721', async () => {
    const { nft } = history
    await expectTruth('erc721', nft, await ownersOf(chain, { contract: nft, ids: tokensOf(chain, 'nft') }))
  })

  it('match ownerOf for ranges minted at creation: ERC-2309', async () => {
    const { edition } = history
    const ids = tokensOf(chain, 'edition')
    await expectTruth('erc721', edition, await ownersOf(chain, { contract: edition, ids }))
  })

  it('match balanceOf for each id, single and in batches: ERC-1155', async () => {
    const { multi } = history
    const holders = holdersOf(chain, multi)
    const ids = tokensOf(chain, 'multi')
    await expectTruth('erc1155', multi, await kindsOf(chain, { contract: multi, ids, holders }))
  })

  it('are changes marked as partial if the history is read from its middle', async () => {
    const { coin, middle } = history
    const holders = holdersOf(chain, coin)
    const before = await coinsOf(chain, { contract: coin, holders, block: middle - 1 })
    const after = await coinsOf(chain, { contract: coin, holders })
    const { balances, output } = await rebuild('erc20', coin, ['--from-block', `${middle}`])
    const of = (all: Balances, holder: string): bigint => all.get(holder) ?? 0n
    const changes = holders.map((holder) => [holder, of(after, holder) - of(before, holder)] as const)
    expect(balances).toEqual(new Map(changes.filter(([, change]) => change !== 0n)))
    expect([...balances.values()].some((balance) => balance < 0n)).toBe(true)
    expect(output).toMatchObject({ partial: true, nonConserving: false })
  })

  it('name the last owner of moved tokens if the history is read from its middle', async () => {
    const { nft, middle } = history
    const truth = await ownersOf(chain, { contract: nft, ids: tokensOf(chain, 'nft') })
    const { balances, output } = await rebuild('erc721', nft, ['--from-block', `${middle}`])
    expect(balances.size).toBeGreaterThan(100)
    expect(balances.size).toBeLessThan(truth.size)
    for (const [owned] of balances) expect(truth.get(owned)).toBe(1n)
    expect(output.partial).toBe(true)
  })

  it('are marked if the contract assigned balances without an event', async () => {
    const { silent, rich, hidden } = history
    const truth = await coinsOf(chain, { contract: silent, holders: [...chain.accounts] })
    const { code, output, balances } = await rebuild('erc20', silent, verifying())
    expect([...truth].filter(([holder, balance]) => balance !== balances.get(holder))).toEqual([
      [rich, (balances.get(rich) ?? 0n) + hidden],
    ])
    expect({ code, ...output }).toMatchObject({
      code: 1,
      complete: true,
      partial: false,
      nonConserving: true,
      verified: {
        asked: 2,
        equal: 1,
        different: [{ address: rich, ours: `${5n - hidden / 2n}`, theirs: `${5n + hidden / 2n}` }],
      },
    })
  })
})
