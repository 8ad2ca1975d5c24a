import { Decoder } from '@envio-dev/hypersync-client'
import { balances } from '../map.mjs'
import { officialClient } from '../official.mjs'

export const begin = (options) => {
  const decoder = Decoder.fromSignatures(['Transfer(address indexed from, address indexed to, uint256 value)'])
  const { transfer, rows } = balances()
  const take = (logs) => {
    for (const { indexed, body } of decoder.decodeLogsSync(logs)) transfer(indexed[0].val, indexed[1].val, body[0].val)
  }
  return { rows, fetchAll: () => officialClient(options).get(take) }
}
