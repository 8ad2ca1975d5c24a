import { onTestFinished } from 'vitest'
import { cli } from '../../support/cli.ts'
import { jumpingClock } from '../../support/jumping-clock.ts'
import { type QueryServer, type QueryServerOptions, startQueryServer } from '../../support/query-server.ts'
import { history, TOKEN } from '../../support/token-logs.ts'
import { createServer } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { z } from 'zod'
import { listening } from '../../support/http.ts'

/** Starts a query service; it is closed after the test. By default Ada has 35 and Bob 15. */
export const serve = async (options: QueryServerOptions = {}): Promise<QueryServer> => {
  const server = await startQueryServer({ logs: history(5), height: 9, ...options })
  onTestFinished(server.close)
  return server
}

/** Starts a node with the contract; it is closed after the test. */
export const startNode = async (...args: Parameters<typeof startContractNode>) => {
  const started = await startContractNode(...args)
  onTestFinished(started.close)
  return started
}

/** The published selector of totalSupply(). */
export const TOTAL_SUPPLY = '0x18160ddd'

export const words = ({ url }: { readonly url: string }, standard: string, ...more: readonly string[]) => [
  ...`balances --url ${url} --standard ${standard} --token ${TOKEN}`.split(' '),
  ...more,
]

export const argv = (server: { readonly url: string }, ...more: readonly string[]) => words(server, 'erc20', ...more)

/** Runs the command with a clock whose waits end at once. */
export const hurried = async (given: readonly string[]) => cli(given, { clock: jumpingClock() })

export const UNVERIFIED =
  'Unverified: a log that the service left out would not be noticed. To compare balances with the contract, use --rpc URL.'
/** Without line breaks. */
export const unwrapped = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** The response of a contract to a call: a word, the node's error message, or none. */
type ContractResponse = bigint | { readonly refusal: string } | 'hang'

const bodySchema = z.object({ params: z.tuple([z.object({ data: z.string() }), z.string()]) })
const blockSchema = z.object({ method: z.literal('eth_getBlockByNumber'), params: z.tuple([z.string(), z.boolean()]) })

/** A node that serves eth_call, and blocks if it has hashes, and records the requests. */
const startContractNode = async (
  respond: (data: string) => ContractResponse,
  hashOf: (block: number) => string | null = () => null,
) => {
  const requests: string[] = []
  const state = { respond }
  const server = createServer((request, reply) => {
    void textOf(request).then((body) => {
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
