import { QueryError } from '../query/client/errors.ts'
import { type Standard } from './types.ts'

const NAMES: Readonly<Record<Standard, string>> = {
  erc20: 'ERC-20',
  erc721: 'ERC-721',
  erc1155: 'ERC-1155',
}

/** Every log of the contract is of another standard than the one asked for. */
export class StandardError extends Error {
  override name = 'StandardError'
  readonly asked: Standard
  readonly found: Standard
  constructor(asked: Standard, found: Standard, logs: number) {
    const profile =
      asked === 'erc721' ? ' (or, if these are the CryptoPunks, with the profile punks)' : ''
    super(
      `Could not tell the balances: this contract's events are of ${NAMES[found]}, not of ${NAMES[asked]}, all ${logs}\n` +
        `  what to do: ask with the standard ${found}${profile}`,
    )
    this.asked = asked
    this.found = found
  }
}

/** What no honest service sends. */
export const refused = (happened: string, evidence?: string): QueryError =>
  new QueryError('protocol', { doing: 'read a page of logs', happened, evidence })
