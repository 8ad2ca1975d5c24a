// The ledger of this project, as it was built.
import { readPage } from '../../dist/query/client/page.js'
import { createLedger } from '../../dist/tokens/ledger.js'

export const ledgerOf = ({ contract }, path) => {
  const ledger = createLedger({ standard: 'erc20', contract, fullHistory: true, path })
  return {
    ledger,
    rows: () => ledger.result().rows.map(({ address, balance }) => [address, balance]),
  }
}

/** With the client's proof of what a page covers. */
export const checked = ({ body, from, next }) =>
  readPage(
    body,
    { from, end: next - 1 },
    (kind, happened, evidence) => new Error(`${kind}: ${happened}: ${evidence}`),
  )
