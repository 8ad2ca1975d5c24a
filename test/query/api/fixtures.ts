import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { test } from 'vitest'
import { z } from 'zod'
import type { Access } from '../../../query/service/api/admission.ts'
import type { QueryApiOptions } from '../../../query/service/api/api.ts'
import type { RequestObserver } from '../../../query/service/api/send.ts'
import type { Block, LogStore } from '../../../query/store/store.ts'
import { listening } from '../../support/http.ts'
import { servedStore } from '../../support/memory-store.ts'
import { shipped } from '../../support/shipped.ts'

const { apiServerOptions, createQueryApi, systemClock } = shipped

export type Answered = Parameters<RequestObserver['requestFinished']>[0]

interface ApiOptions extends Partial<Omit<QueryApiOptions, 'access'>>, Partial<Access> {
  readonly blocks?: readonly Block[]
}

/** The API over a store in memory, on a real port, with the server limits of the API. */
export const startQueryApi = async (wanted: ApiOptions = {}) => {
  const { blocks = [], keys = [], requestsPerMinute = null, ...options } = wanted
  const store = options.store ?? servedStore()
  if (blocks.length > 0) await store.append(blocks)
  const answered: Answered[] = []
  const complaints: Error[] = []
  const { handle, setAccess, streams, end } = createQueryApi({
    store,
    scope: { addresses: [], topics: [] },
    height: () => blocks.at(-1)?.number ?? null,
    dialect: 'spec',
    access: { keys, requestsPerMinute },
    clock: systemClock,
    observer: { requestFinished: (answer) => answered.push(answer) },
    onError: (error) => complaints.push(error),
    ...options,
  })
  const server = createServer(apiServerOptions, handle)
  return { ...(await listening(server)), setAccess, streams, end, store, answered, complaints }
}

export type QueryApi = Awaited<ReturnType<typeof startQueryApi>>

export interface Got {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** As sent. */
  readonly bytes: Buffer
  readonly text: string
}

interface Asking {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** Sends one request exactly as given. */
export const askRaw = async (
  { port }: { readonly port: number },
  { method = 'POST', path = '/query', headers, body }: Asking,
): Promise<Got> => {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const sent = request({ port, host: '127.0.0.1', method, path, headers: { ...type, ...headers } })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject).end(body)
  })
  const chunks: Buffer[] = []
  const stream: AsyncIterable<Buffer> = response
  for await (const chunk of stream) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  const isPacked = response.headers['content-encoding'] === 'gzip'
  const text = (isPacked ? gunzipSync(bytes) : bytes).toString('utf8')
  return { status: response.statusCode ?? 0, headers: response.headers, bytes, text }
}

/** A valid query that tests make invalid in one place. */
export const RIGHT = {
  from_block: 10,
  to_block: 20,
  logs: [{}],
  field_selection: { log: ['data'] },
}

export const ask = async (
  api: { readonly port: number },
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Got> => askRaw(api, { body: typeof body === 'string' ? body : JSON.stringify(body), headers })

/** Blocks without logs, except for the given ones. */
export const plainChain = (
  from: number,
  to: number,
  logs: Readonly<Record<number, Block['logs']>> = {},
): readonly Block[] =>
  Array.from({ length: to - from + 1 }, (_, index) => {
    const number = from + index
    return {
      number,
      hash: hashOf(number),
      parentHash: hashOf(number - 1),
      timestamp: 1_700_000_000 + number,
      logCount: logs[number]?.length ?? 0,
      logs: logs[number] ?? [],
    }
  })

const hashOf = (block: number): string => `0x${block.toString(16).padStart(64, '0')}`

/** A store with some methods replaced. */
export const storeWith = (changes: Partial<LogStore>, store = servedStore()): LogStore => ({
  ...store,
  ...changes,
})

/** Parses an error response, whose shape is always the same. */
export const errorOf = ({ text }: { readonly text: string }) => ERROR.parse(JSON.parse(text)).error

export const codeOf = (got: { readonly text: string }): string => errorOf(got).code

const ERROR = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    path: z.string().nullable(),
    first_block: z.int().optional(),
  }),
})

/** Blocks 5 to 30 without a log. */
const SERVED: ApiOptions = { blocks: plainChain(5, 30) }

/** Starts an API over the blocks of `served`, with these options in place of its own. */
export type ServeApi = (options?: ApiOptions) => Promise<QueryApi>

export const it = test
  .extend('served', SERVED)
  .extend('serve', ({ served, onTestFinished }): ServeApi => async (options) => {
    const api = await startQueryApi({ ...served, ...options })
    onTestFinished(api.close)
    return api
  })
  .extend('api', ({ serve }) => serve())

/** A raw `POST /query` request with this body. */
export const rawQuery = (body: string, headers: readonly string[] = []): string =>
  [
    'POST /query HTTP/1.1',
    'Host: x',
    'Content-Type: application/json',
    ...headers,
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n')

export const A_LOG = {
  logIndex: 0,
  transactionIndex: 0,
  transactionHash: `0x${'7a'.repeat(32)}`,
  address: `0x${'da'.repeat(20)}`,
  topics: [],
  data: `0x${'00'.repeat(32)}`,
}

/** One log with more data than the machine's buffers take between two programs. */
export const HUGE = [{ ...A_LOG, data: `0x${'00'.repeat(8_000_000)}` }]
