import { Interface } from 'ethers'
import { ABI, balances } from '../map.mjs'

export const begin = () => {
  const decoder = new Interface(ABI)
  const { transfer, rows } = balances()
  const page = ({ body }) => {
    for (const { logs } of JSON.parse(body.toString()).data) {
      for (const { topic0, topic1, topic2, data } of logs) {
        const { args } = decoder.parseLog({ topics: [topic0, topic1, topic2], data })
        transfer(args[0], args[1], args[2])
      }
    }
  }
  return { rows, page }
}
