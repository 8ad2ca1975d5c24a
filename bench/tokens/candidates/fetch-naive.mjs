import { FIRST_BLOCK, TRANSFER } from '../layout.mjs'
import { naive } from '../naive.mjs'

/** Sequential requests until the service has no more blocks. */
export const begin = ({ url, contract, history }) => {
  const { page, rows } = naive()
  const fetchAll = async () => {
    for (let from = FIRST_BLOCK; from <= history.height;) {
      const query = {
        from_block: from,
        logs: [{ address: [contract], topics: [[`0x${TRANSFER}`]] }],
        field_selection: {
          log: ['block_number', 'log_index', 'topic0', 'topic1', 'topic2', 'data'],
        },
      }
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${url}/query`, {
        method: 'POST',
        headers,
        body: JSON.stringify(query),
      })
      const body = await response.text()
      page(body)
      from = Number(/"next_block":(\d+)/u.exec(body.slice(-500))[1])
    }
  }
  return { rows, fetchAll }
}
