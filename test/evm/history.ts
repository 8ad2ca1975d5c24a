import { type Argument, type Chain, type Deployed, type Transaction } from './chain.ts'
import { compiled } from './contracts.ts'

const SEED = 20_261_121n
const SPREAD = 0x9e3779b97f4a7c15f39cc0605cedc8341082276bf3a27251f86c6a11d0c18e95n
const HOLDERS = 400n
const TOKENS = 600n
const KINDS = 6n
const CHURNS = 6
const HANDFULS = 8
/** Of each account's own. */
const OWN_TOKENS = 4n
const OWN_KIND = 1_000_000n

/** Initial balances of accounts, in addition to random mints of the contract. */
const ownToken = (account: number, index: bigint): bigint => OWN_KIND + BigInt(account) * OWN_TOKENS + index

export interface History {
  readonly coin: Deployed
  readonly nft: Deployed
  readonly edition: Deployed
  readonly multi: Deployed
  /** An ERC-20 whose constructor gave `hidden` to `rich` without an event. */
  readonly silent: Deployed
  readonly rich: string
  readonly hidden: bigint
  /** The first block of its second half. */
  readonly middle: number
}

type Name = 'nft' | 'edition' | 'multi'

/** As the contracts draw them. */
export const holdersOf = ({ accounts }: Chain, { address }: Deployed): readonly string[] => [
  address,
  `0x${'dead'.padStart(40, '0')}`,
  ...numbers(2n, HOLDERS).map(
    (number) =>
      `0x${BigInt.asUintN(160, number * SPREAD)
        .toString(16)
        .padStart(40, '0')}`,
  ),
  ...accounts,
]

export const tokensOf = ({ accounts }: Chain, name: Name): readonly bigint[] => {
  if (name === 'edition') return numbers(0n, 2000n)
  const drawn = numbers(0n, name === 'multi' ? KINDS : TOKENS).map((number) => {
    if (number === 1n) return 2n ** 256n - 1n
    return number % 2n === 0n ? number : BigInt.asUintN(256, number * SPREAD)
  })
  if (name === 'multi') return [...drawn, OWN_KIND]
  return [
    ...drawn,
    ...accounts.flatMap((_, account) => numbers(0n, OWN_TOKENS).map((index) => ownToken(account, index))),
  ]
}

const numbers = (from: bigint, end: bigint): readonly bigint[] =>
  Array.from({ length: Number(end - from) }, (_, index) => from + BigInt(index))

/** Deploys contracts of `contracts/` by name. */
export const deployerOn = async (chain: Chain) => {
  const contracts = await compiled()
  return (name: string, args: readonly Argument[] = [SEED]): Promise<Deployed> => {
    const contract = contracts.get(name)
    if (contract === undefined) throw new Error(`there is no contract ${name}`)
    return chain.deploy(contract, args)
  }
}

/** Thousands of mints, transfers and burns of four contracts side by side: drawn by the contracts, and sent by accounts. */
export const makeHistory = async (chain: Chain): Promise<History> => {
  const deploy = await deployerOn(chain)
  const [owner = '', rich = ''] = chain.accounts
  const coin = await deploy('Coin')
  const nft = await deploy('Nft')
  const edition = await deploy('Edition')
  const multi = await deploy('Multi')
  const hidden = 10n ** 24n
  const silent = await deploy('Silent', [rich, hidden])
  const call = (to: Deployed, method: string, args: readonly Argument[]): Transaction => ({
    to,
    method,
    args,
  })
  const churn = (to: Deployed, rounds: bigint) => call(to, 'churn(uint256)', [rounds])
  const churnAll = async () => {
    for (let block = 0; block < CHURNS; block += 1) {
      await chain.send([churn(coin, 500n), churn(nft, 250n), churn(edition, 250n), churn(multi, 150n)])
    }
  }

  await churnAll()
  const gifts = chain.accounts.flatMap((account, index) => [
    call(coin, 'mint(address,uint256)', [account, 10n ** 21n]),
    call(multi, 'mint(address,uint256,uint256)', [account, OWN_KIND, 10n ** 6n]),
    ...numbers(0n, OWN_TOKENS).map((own) => call(nft, 'mint(address,uint256)', [account, ownToken(index, own)])),
  ])
  await chain.send(gifts)
  const middle = (await chain.height()) + 1
  await churnAll()
  const deal = dealer(chain.accounts, { coin, nft, multi })
  for (let block = 0; block < HANDFULS; block += 1) {
    await chain.send(chain.accounts.flatMap((_, account) => deal(account)))
  }
  const give = (from: string, to: string, value: bigint): Transaction => ({
    from,
    to: silent,
    method: 'transfer(address,uint256)',
    args: [to, value],
  })
  await chain.send([give(owner, rich, 5n), give(rich, owner, hidden / 2n)])
  // Far enough below the head for the client to fetch in parallel.
  await chain.ask('hardhat_mine', ['0x12c'])
  return { coin, nft, edition, multi, silent, rich, hidden, middle }
}

/** What an account sends in a block: of each contract one transfer, to another account each time. */
const dealer = (
  accounts: readonly string[],
  { coin, nft, multi }: Readonly<Record<'coin' | 'nft' | 'multi', Deployed>>,
) => {
  let state = Number(SEED)
  const roll = (sides: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % sides
  }
  const owners = new Map<bigint, string>()
  return (account: number): readonly Transaction[] => {
    const from = accounts[account] ?? ''
    // Now and then it is itself.
    const to = accounts[roll(accounts.length)] ?? ''
    const id = ownToken(account, BigInt(roll(Number(OWN_TOKENS))))
    const owner = owners.get(id) ?? from
    owners.set(id, to)
    const value = BigInt(roll(1000))
    return [
      { from, to: coin, method: 'transfer(address,uint256)', args: [to, value] },
      {
        from: owner,
        to: nft,
        method: 'transferFrom(address,address,uint256)',
        args: [owner, to, id],
      },
      roll(2) === 0
        ? {
            from,
            to: multi,
            method: 'safeTransferFrom(address,address,uint256,uint256,bytes)',
            args: [from, to, OWN_KIND, value, []],
          }
        : {
            from,
            to: multi,
            method: 'safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)',
            args: [from, to, [OWN_KIND, OWN_KIND], [1n, value], []],
          },
    ]
  }
}
