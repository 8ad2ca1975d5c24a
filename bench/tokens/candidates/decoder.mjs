import { Decoder } from '@envio-dev/hypersync-client'
import { balances } from '../map.mjs'

/** The decoder of the official client on parsed logs, without its transport. */
export const begin = ({ contract }) => {
  const decoder = Decoder.fromSignatures(['Transfer(address indexed from, address indexed to, uint256 value)'])
  const { transfer, rows } = balances()
  const page = ({ body }) => {
    for (const { logs } of JSON.parse(body.toString()).data) {
      const events = decoder.decodeLogsSync(
        logs.map((log) => ({
          address: contract,
          data: log.data,
          topics: [log.topic0, log.topic1, log.topic2],
        })),
      )
      for (const { indexed, body: unindexed } of events) transfer(indexed[0].val, indexed[1].val, unindexed[0].val)
    }
  }
  return { rows, page }
}
