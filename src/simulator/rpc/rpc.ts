import { FINAL_AFTER } from '../chain/chain.ts'
import type { Answer, Call } from '../endpoint.ts'
import { respond } from './json-rpc.ts'
import { answerQuery } from './query.ts'
import { answer, type View } from './rpc-methods.ts'

interface Options {
  readonly view: View
  /** Whether `GET /height` is answered too, as a query service does. */
  readonly tellsHeight: boolean
  /** The first block that `POST /query` has logs of; without it there is no such path. */
  readonly tokenSince?: bigint
}

/** What a JSON-RPC endpoint answers. */
export const createRpcAnswer =
  ({ view, tellsHeight, tokenSince }: Options) =>
  ({ method, path, body }: Call): Answer => {
    if (tellsHeight && method === 'GET' && path === '/height')
      return json(200, JSON.stringify({ height: Number(view.latest() - FINAL_AFTER) }))
    if (tokenSince !== undefined && method === 'POST' && path === '/query') {
      const known = { height: view.latest() - FINAL_AFTER, since: tokenSince }
      const text = answerQuery(body, known)
      return text === undefined ? json(400, '{"error":"bad query"}') : json(200, text)
    }
    if (method === 'POST' && path === '/') {
      return json(
        200,
        respond(body, (asked, params) => answer(view, asked, params)),
      )
    }
    return json(path === '/' ? 405 : 404, '')
  }

const json = (status: number, text: string): Answer => ({ status, type: 'application/json', text })
