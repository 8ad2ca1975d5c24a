import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { listening } from './http.ts'

/** The response of a contract to a call: a word, the node's error message, or none. */
export type Said = bigint | { readonly refusal: string } | 'hang'

const bodySchema = z.object({ params: z.tuple([z.object({ data: z.string() }), z.string()]) })

/** A node that serves eth_call and records the requests. */
export const startContractNode = async (say: (data: string) => Said) => {
  const asked: string[] = []
  const state = { say }
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push(body)
      const said = state.say(bodySchema.parse(JSON.parse(body)).params[0].data)
      if (said === 'hang') return
      const answer =
        typeof said === 'bigint'
          ? { result: `0x${said.toString(16).padStart(64, '0')}` }
          : { error: { code: -32_000, message: said.refusal } }
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer }))
    })
  })
  const { url, close } = await listening(server)
  return {
    url,
    asked,
    answer: (other: (data: string) => Said): void => {
      state.say = other
    },
    close,
  }
}
