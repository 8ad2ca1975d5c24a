import { QueryError } from '../query/client/errors.ts'
import { type Standard } from './types.ts'

const NAMES: Readonly<Record<Standard, string>> = {
  erc20: 'ERC-20',
  erc721: 'ERC-721',
  erc1155: 'ERC-1155',
}

/** All logs of the contract are of another standard than the requested one. */
export class StandardError extends Error {
  override name = 'StandardError'
  readonly requested: Standard
  readonly found: Standard
  constructor(requested: Standard, found: Standard, logs: number) {
    const profile = requested === 'erc721' ? ' (or, if these are the CryptoPunks, with the profile punks)' : ''
    super(
      `Could not compute the balances: all ${logs} events of this contract are of ${NAMES[found]}, not of ${NAMES[requested]}\n` +
        `  what to do: use the standard ${found}${profile}`,
    )
    this.requested = requested
    this.found = found
  }
}

/** The error for a page that a correct service does not return. */
export const invalidPage = (happened: string, evidence?: string): QueryError =>
  new QueryError('protocol', { doing: 'read a page of logs', happened, evidence })
