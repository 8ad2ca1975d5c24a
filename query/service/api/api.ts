import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import express, { type Request, type Response } from 'express'
import { type Clock, linkAbort, nextTurn, withDeadline } from '../../../src/core/clock.ts'
import type { Filter, LogStore } from '../../store/store.ts'
import { type Access, createAdmission } from './admission.ts'
import { createForms, isReply, jsonReply, type QueryForm } from './forms.ts'
import { createHeights } from './heights.ts'
import { HttpError, toHttpError } from './http-error.ts'
import { QUERY_LIMITS, type QueryLimits } from './limits.ts'
import type { Dialect, ParsedQuery } from './parse-query.ts'
import { createRequestQueue, createSlots } from './request-queue.ts'
import { createSenders, type Path, type Reply, type RequestObserver, type Sender } from './send.ts'

export interface QueryApiOptions {
  readonly store: LogStore
  /** What the store keeps of each block. */
  readonly scope: Filter
  /** The last block in the store; null while the store is empty. */
  readonly height: () => number | null
  readonly dialect: Dialect
  readonly access: Access
  readonly limits?: Partial<QueryLimits> | undefined
  readonly clock: Clock
  readonly observer: RequestObserver
  /** Called for each store failure and each internal error. */
  readonly onError?: ((error: Error) => void) | undefined
  /** Called for each request that was refused because of what it asks, or without a key. */
  readonly onRefusal?: ((client: string, error: HttpError) => void) | undefined
}

export type QueryApi = ReturnType<typeof createQueryApi>

/** The last one keeps a reverse proxy from buffering events. */
const STREAM_TYPE = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' }

export const errorReply = ({ code, status, message, details }: HttpError): Reply => {
  const { path = null, first, headers } = details
  const error = { code, message, path, ...(first !== undefined && { first_block: first }) }
  const body = Buffer.from(JSON.stringify({ error }))
  const reply = jsonReply(body)
  return { ...reply, status, headers: { ...reply.headers, ...headers } }
}

interface Exchange {
  readonly request: Request
  readonly response: Response
  readonly sender: Sender
}

/** Makes the response to a request, or throws. Null if it has sent the response itself. */
type Act = (exchange: Exchange) => Promise<Reply | null> | Reply | null

/** The same for a request of a client that may use the service. */
type AdmittedAct = (exchange: Exchange, client: string) => ReturnType<Act>

/** Serves queries and the height. Never throws, and never sends a partial response. */
export const createQueryApi = (options: QueryApiOptions) => {
  const { store, clock, height, onError = () => undefined, onRefusal = () => undefined } = options
  const limits = { ...QUERY_LIMITS, ...options.limits }
  let admit = createAdmission(options.access, clock)
  const createSender = createSenders(limits, options.observer, clock)
  const queue = createRequestQueue(limits, clock)
  // Each turn of the event loop reads a part of each body that arrives, and other work waits for the turn.
  const bodies = createRequestQueue(limits.largeBodies, clock)
  const held = createSlots(limits.held)
  const streams = createSlots(limits.streams)
  const heights = createHeights(height, clock)
  const readBody = createBodyReader(limits.bodyBytes)
  /** Ends what would not end by itself. */
  const endings = new Set<() => void>()
  let isEnded = false

  const makeReply = async (act: Act, exchange: Exchange): Promise<Reply | null> => {
    try {
      return await act(exchange)
    } catch (thrown) {
      const error = toHttpError(thrown, onError)
      if (REFUSALS.has(error.status)) onRefusal(exchange.request.socket.remoteAddress ?? '', error)
      return errorReply(error)
    }
  }

  const serve = (path: Path, act: Act) => (request: Request, response: Response) => {
    const sender = createSender(path, request, response)
    makeReply(act, { request, response, sender })
      .then((reply) => (reply === null ? undefined : sender.send(reply)))
      .catch((error: unknown) => {
        toHttpError(error, onError)
        response.destroy()
      })
  }

  const isAboveHead = ({ from, to }: ParsedQuery): boolean =>
    from > (heights.current() ?? -1) && (to === null || to >= from)

  /** Does work that would not end by itself until the service ends. */
  const untilEnd = async (signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    const linked = linkAbort(signal)
    endings.add(linked.abort)
    if (isEnded) linked.abort()
    try {
      await work(linked.signal)
    } finally {
      endings.delete(linked.abort)
      linked.abort()
    }
  }

  /** Waits for the first block of the query. Answered at once, clients would ask again a thousand times a second. */
  const hold = async ({ from }: ParsedQuery, client: string, disconnected: AbortSignal): Promise<void> => {
    const release = held.take(client)
    await untilEnd(disconnected, (signal) => heights.waitFor(from, limits.holdMs, signal)).finally(release)
  }

  // The cost of a request is that of its body, too: a body is not read without room in the queue, nor parsed before its turn.
  const query =
    ({ parse, answer, isJson, holds }: QueryForm): AdmittedAct =>
    async ({ request, response, sender }, client) => {
      const { disconnected, withinBufferLimit } = sender
      queue.expectRoom(client)
      const read = () => readBody(request, response, isJson)
      const length = Number(request.headers['content-length'] ?? Infinity)
      const sent = await (length <= limits.smallBodyBytes ? read() : bodies.run(read, client, disconnected))
      const inSlot = <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
        withDeadline({ clock, signal: disconnected }, limits.answerMs, ({ signal }) =>
          queue.run(() => work(signal), client, signal),
        )
      let parsed: ParsedQuery | Reply | undefined
      let mayHold = holds
      const work = (signal: AbortSignal): Promise<Reply | null> =>
        withinBufferLimit(async () => {
          // Without a pause, one turn of the event loop would parse all bodies that wait.
          await nextTurn()
          parsed ??= parse(sent)
          if (isReply(parsed)) return parsed
          return mayHold && isAboveHead(parsed) ? null : answer(parsed, signal)
        })
      const reply = await inSlot(work)
      if (reply !== null || parsed === undefined || isReply(parsed)) return reply
      const waiting = parsed
      await sender.hold(() => hold(waiting, client, disconnected))
      mayHold = false
      return inSlot(work)
    }

  const streamHeights: AdmittedAct = async ({ request, response, sender }, client) => {
    if (request.method === 'HEAD') return { status: 200, headers: STREAM_TYPE, body: Buffer.alloc(0), logs: 0 }
    const release = streams.take(client)
    sender.stream(STREAM_TYPE)
    await untilEnd(sender.disconnected, (signal) => heights.stream(response, signal)).finally(release)
    response.end()
    return null
  }

  const app = express().disable('x-powered-by').enable('case sensitive routing').enable('strict routing')
  const add = (path: Exclude<Path, 'other'>, method: 'get' | 'post', act: AdmittedAct): void => {
    // express uses the handler of GET for HEAD, too.
    const allow = method === 'get' ? 'GET, HEAD, OPTIONS' : 'POST, OPTIONS'
    const admitted: Act = (exchange) => {
      const { client, headers } = admit(exchange.request)
      exchange.response.set(headers)
      return act(exchange, client)
    }
    app[method](path, serve(path, admitted))
    app.options(
      path,
      serve(path, () => ({ status: 204, headers: { allow }, body: Buffer.alloc(0), logs: 0 })),
    )
    app.all(
      path,
      serve(path, () => {
        throw new HttpError('method_not_allowed', `${path} allows ${allow}`, { headers: { allow } })
      }),
    )
  }
  const value = (name: string, read: () => number | null) => () =>
    jsonReply(Buffer.from(JSON.stringify({ [name]: read() })))
  const forms = createForms({ ...options, limits, heights })
  add('/query', 'post', query(forms.json))
  add('/query/arrow-ipc', 'post', query(forms.binary))
  add('/query/arrow-ipc/capnp', 'post', query(forms.capnp))
  add('/height', 'get', value('height', heights.current))
  add('/height/sse', 'get', streamHeights)
  add(
    '/chain_id',
    'get',
    value('chain_id', () => store.chainId),
  )
  app.use(
    serve('other', () => {
      throw new HttpError('not_found', `not found; the endpoints are ${ENDPOINTS}`)
    }),
  )
  return {
    handle: (request: IncomingMessage, response: ServerResponse): void => {
      app(request, response)
    },
    /** Applies to new requests; every rate limit restarts. */
    setAccess: (access: Access): void => {
      admit = createAdmission(access, clock)
    },
    streams: streams.taken,
    /** Ends all streams and waits, which would not end by themselves. */
    end: (): void => {
      isEnded = true
      for (const abort of endings) abort()
    },
  }
}

const ENDPOINTS = 'POST /query, /query/arrow-ipc and /query/arrow-ipc/capnp, and GET /height, /height/sse and /chain_id'
/** Statuses of what a client can change. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 410, 413, 415])

const JSON_UTF8 = /^application\/json *(?:; *(?:charset="?utf-?8"?)? *)*$/i

/**
 * Reads the body of a request. The rest of a larger body is read and discarded before the response is sent: if the
 * connection were closed, the client would not see the response. The request timeout of the server ends this.
 */
const createBodyReader = (limit: number) => {
  const read = promisify(express.raw({ limit, type: () => true }))
  return async (request: Request, response: Response, isJson: boolean): Promise<Buffer> => {
    const { headers } = request
    if (isJson && !JSON_UTF8.test(headers['content-type'] ?? ''))
      throw new HttpError('media_type', 'send the body as Content-Type: application/json')
    if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
      throw new HttpError('media_type', 'send the body uncompressed')
    await read(request, response).catch((error: unknown) => {
      if (error instanceof Error && 'type' in error && error.type === 'entity.too.large')
        throw new HttpError('too_large', `the body is larger than ${limit} bytes`)
      // The client has disconnected, so this error is not sent.
      throw new HttpError('bad_json', 'the body is incomplete')
    })
    const body: unknown = request.body
    return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  }
}
