import type { Chain, Deployed } from './chain.ts'

/** Balances by holder: `address` for ERC-20, `id address` for the others; without zero balances. */
export type Balances = ReadonlyMap<string, bigint>

/** By balanceOf of an ERC-20, for each possible holder. */
export const coinsOf = async (
  chain: Chain,
  { contract, holders, block }: { contract: Deployed; holders: readonly string[]; block?: number },
): Promise<Balances> => {
  const questions = holders.map((holder) => ({
    to: contract,
    method: 'balanceOf(address)',
    args: [holder],
  }))
  return withoutNothing(holders, await chain.read(questions, block))
}

/** By ownerOf, for each id that there could be. */
export const ownersOf = async (
  chain: Chain,
  { contract, ids }: { contract: Deployed; ids: readonly bigint[] },
): Promise<Balances> => {
  const questions = ids.map((id) => ({ to: contract, method: 'ownerOf(uint256)', args: [id] }))
  const owners = await chain.read(questions)
  return new Map(
    ids.flatMap((id, index): (readonly [string, bigint])[] => {
      const owner = owners[index] ?? null
      return owner === null ? [] : [[`${id} 0x${owner.toString(16).padStart(40, '0')}`, 1n]]
    }),
  )
}

/** By balanceOf of an ERC-1155, for each id and holder. */
export const kindsOf = async (
  chain: Chain,
  { contract, ids, holders }: { contract: Deployed; ids: readonly bigint[]; holders: readonly string[] },
): Promise<Balances> => {
  const pairs = ids.flatMap((id) => holders.map((holder) => ({ id, holder })))
  const questions = pairs.map(({ id, holder }) => ({
    to: contract,
    method: 'balanceOf(address,uint256)',
    args: [holder, id],
  }))
  const names = pairs.map(({ id, holder }) => `${id} ${holder}`)
  return withoutNothing(names, await chain.read(questions))
}

const withoutNothing = (names: readonly string[], answers: readonly (bigint | null)[]): Balances => {
  const balances = new Map<string, bigint>()
  for (const [index, name] of names.entries()) {
    const balance = answers[index] ?? null
    if (balance === null) throw new Error(`the contract does not tell what ${name} has`)
    if (balance !== 0n) balances.set(name, balance)
  }
  return balances
}
