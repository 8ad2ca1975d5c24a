import { addressOf, balances } from '../map.mjs'
import { officialClient } from '../official.mjs'

export const begin = (options) => {
  const { transfer, rows } = balances()
  const take = (logs) => {
    for (const { topics, data } of logs) transfer(addressOf(topics[1]), addressOf(topics[2]), BigInt(data))
  }
  return { rows, fetchAll: () => officialClient(options).get(take) }
}
