import { checked, ledgerOf } from '../ledger.mjs'

export const begin = (options) => {
  const { ledger, rows } = ledgerOf(options, 'fast')
  return { rows, page: (page) => ledger.applyPage(checked(page)) }
}
