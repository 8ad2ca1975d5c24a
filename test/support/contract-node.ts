import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { listening } from './http.ts'

/** The response of a contract to a call: a word, the node's error message, or none. */
export type ContractResponse = bigint | { readonly refusal: string } | 'hang'

const bodySchema = z.object({ params: z.tuple([z.object({ data: z.string() }), z.string()]) })
const blockSchema = z.object({ method: z.literal('eth_getBlockByNumber'), params: z.tuple([z.string(), z.boolean()]) })

/** A node that serves eth_call, and blocks if it has hashes, and records the requests. */
export const startContractNode = async (
  respond: (data: string) => ContractResponse,
  hashOf: (block: number) => string | null = () => null,
) => {
  const requests: string[] = []
  const state = { respond }
  const server = createServer((request, reply) => {
    void text(request).then((body) => {
      requests.push(body)
      const block = blockSchema.safeParse(JSON.parse(body)).data
      if (block) {
        const hash = hashOf(Number(block.params[0]))
        reply.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: hash && { hash } }))
        return
      }
      const response = state.respond(bodySchema.parse(JSON.parse(body)).params[0].data)
      if (response === 'hang') return
      const answer =
        typeof response === 'bigint'
          ? { result: `0x${response.toString(16).padStart(64, '0')}` }
          : { error: { code: -32_000, message: response.refusal } }
      reply.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer }))
    })
  })
  const { url, close } = await listening(server)
  return {
    url,
    requests,
    answer: (other: (data: string) => ContractResponse): void => {
      state.respond = other
    },
    close,
  }
}
