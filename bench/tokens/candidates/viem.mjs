import { decodeEventLog } from 'viem'
import { ABI, balances } from '../map.mjs'

export const begin = () => {
  const { transfer, rows } = balances()
  const page = ({ body }) => {
    for (const { logs } of JSON.parse(body.toString()).data) {
      for (const { topic0, topic1, topic2, data } of logs) {
        const { args } = decodeEventLog({ abi: ABI, topics: [topic0, topic1, topic2], data })
        transfer(args.from, args.to, args.value)
      }
    }
  }
  return { rows, page }
}
