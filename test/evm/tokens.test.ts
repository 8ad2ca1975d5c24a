import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Standard } from '../../query/tokens/types.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { type Chain, chainOf, type Deployed } from './chain.ts'
import { balancesCommand } from './processes.ts'
import { type EvmNode, probeHardhat, startHardhat } from './hardhat.ts'
import { type History, holdersOf, makeHistory, tokensOf } from './history.ts'
import { API_KEY, rebuild, type Rebuilt, type Served, serve } from './ledger-balances.ts'
import { type Balances, coinsOf, kindsOf, ownersOf } from './contract-balances.ts'

const describe = await requireRealPart('evm', probeHardhat)

describe('balances from the logs of real contracts', () => {
  let node: EvmNode
  let chain: Chain
  let history: History
  let served: Served

  beforeAll(async () => {
    node = await startHardhat()
    chain = await chainOf(node.url)
    history = await makeHistory(chain)
    served = await serve(chain)
  })
  afterAll(async () => {
    await served.stop()
    await node.stop()
  })

  /** In both dialects of the service. */
  const expectTruth = async (standard: Standard, contract: Deployed, truth: Balances) => {
    expect(truth.size).toBeGreaterThan(100)
    for (const dialect of ['spec', 'hosted'] as const) {
      const { balances, result } = await rebuild(served, { standard, contract, dialect })
      expect(balances).toEqual(truth)
      expect(result).toMatchObject({ partial: false, nonConserving: false, hybrid: false })
      expect(result.stats.malformed + result.stats.unrequested + result.stats.wrongStandard).toBe(0)
    }
  }

  it('match balanceOf: ERC-20', async () => {
    const { coin } = history
    await expectTruth('erc20', coin, await coinsOf(chain, { contract: coin, holders: holdersOf(chain, coin) }))
    const [supply] = await chain.read([{ to: coin, method: 'totalSupply()', args: [] }])
    const { result } = await rebuild(served, { standard: 'erc20', contract: coin })
    expect(result.supply).toBe(supply)
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
    const { balances, result } = await rebuild(served, {
      standard: 'erc20',
      contract: coin,
      fromBlock: middle,
    })
    const of = (all: Balances, holder: string): bigint => all.get(holder) ?? 0n
    const changes = holders.map((holder) => [holder, of(after, holder) - of(before, holder)] as const)
    expect(balances).toEqual(new Map(changes.filter(([, change]) => change !== 0n)))
    expect([...result.rows].some(({ balance }) => balance < 0n)).toBe(true)
    expect(result).toMatchObject({ partial: true, nonConserving: false })
  })

  it('name the last owner of moved tokens if the history is read from its middle', async () => {
    const { nft, middle } = history
    const truth = await ownersOf(chain, { contract: nft, ids: tokensOf(chain, 'nft') })
    const { balances, result } = await rebuild(served, {
      standard: 'erc721',
      contract: nft,
      fromBlock: middle,
    })
    expect(balances.size).toBeGreaterThan(100)
    expect(balances.size).toBeLessThan(truth.size)
    for (const [owned] of balances) expect(truth.get(owned)).toBe(1n)
    expect(result.partial).toBe(true)
  })

  it('are marked if the contract assigned balances without an event', async () => {
    const { silent } = history
    const holders = [...chain.accounts]
    const truth = await coinsOf(chain, { contract: silent, holders })
    const rebuilt = await rebuild(served, { standard: 'erc20', contract: silent })
    expect(differences(rebuilt, truth)).toEqual([[history.rich, history.hidden]])
    expect(rebuilt.result).toMatchObject({ partial: false, nonConserving: true })
  })

  it.each([
    ['erc20', 'coin'],
    ['erc721', 'nft'],
    ['erc1155', 'multi'],
  ] as const)('are told by the command, and verified: %s', async (standard, name) => {
    const contract = history[name]
    const { code, output, balances, stderr } = await balancesCommand(
      [...tokenWords(standard, contract), '--verify', '20', '--rpc', node.url],
      API_KEY,
    )
    expect(stderr).toBe('Verified: 20 of 20 match the contract.')
    expect({ code, ...output }).toMatchObject({
      code: 0,
      complete: true,
      partial: false,
      nonConserving: false,
      through: await chain.height(),
      verified: { asked: 20, equal: 20, different: [] },
    })
    expect(balances).toEqual((await rebuild(served, { standard, contract })).balances)
  })

  it('are reported by the command if they differ from the contract', async () => {
    const { silent, rich, hidden } = history
    const words = [...tokenWords('erc20', silent), '--verify', '20', '--rpc', node.url]
    const { code, output } = await balancesCommand(words, API_KEY)
    expect({ code, ...output }).toMatchObject({
      code: 1,
      complete: true,
      nonConserving: true,
      verified: {
        asked: 2,
        equal: 1,
        different: [{ address: rich, ours: `${5n - hidden / 2n}`, theirs: `${5n + hidden / 2n}` }],
      },
    })
  })

  const tokenWords = (standard: Standard, contract: Deployed): readonly string[] => {
    const url = served.servers.get('hosted')?.url ?? ''
    return ['--url', url, '--standard', standard, '--token', contract.address]
  }
})

/** Holders with more than the logs show, and the difference. */
const differences = ({ balances }: Rebuilt, truth: Balances) =>
  [...new Set([...balances.keys(), ...truth.keys()])]
    .map((name) => [name, (truth.get(name) ?? 0n) - (balances.get(name) ?? 0n)] as const)
    .filter(([, difference]) => difference !== 0n)
