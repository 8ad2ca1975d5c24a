// The ledger of chain-agent, from dist.
import { readPage } from '../../.cache/modules/query/client/page.js'
import { createLedger } from '../../.cache/modules/tokens/ledger.js'

export const ledgerOf = ({ contract }, path) => {
  const ledger = createLedger({ standard: 'erc20', contract, fullHistory: true, path })
  return {
    ledger,
    rows: () => ledger.result().rows.map(({ address, balance }) => [address, balance]),
  }
}

/** Checks the coverage of a page like the client. */
export const checked = ({ body, from, next }) =>
  readPage(body, { from, end: next - 1 }, (kind, happened, evidence) => new Error(`${kind}: ${happened}: ${evidence}`))
