import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, withDeadline } from '../../../core/clock.ts'
import type { Filter, LogStore } from '../../store/store.ts'
import { type Access, createAdmission } from './access-control.ts'
import { answerQuery } from './answer.ts'
import { createConcurrencyLimit } from './concurrency-limit.ts'
import { toHttpError } from './http-error.ts'
import { checkType, readBody } from './json-body.ts'
import { QUERY_LIMITS, type QueryLimits } from './limits.ts'
import { type Dialect, parseQuery } from './parse-query.ts'
import { createResponder, emptyReply, errorReply, jsonReply, type Reply, type RequestObserver } from './response.ts'
import { type Route, routeOf } from './routes.ts'

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
}

type Sender = ReturnType<ReturnType<typeof createResponder>['track']>

type Handler = (request: IncomingMessage, response: ServerResponse) => void

export interface QueryApi {
  readonly handle: Handler
  /** Applies to new requests; every rate limit restarts. */
  setAccess(access: Access): void
}

/** Serves POST /query and GET /height. Never throws, and never sends a partial response. */
export const createQueryApi = (options: QueryApiOptions): QueryApi => {
  const { clock, height, onError = () => undefined } = options
  const limits = { ...QUERY_LIMITS, ...options.limits }
  let admit = createAdmission(options.access, clock)
  const responder = createResponder({ clock, limits, observer: options.observer })
  const query = createQuery(options, limits)

  const reply = async (route: Route, request: IncomingMessage, sender: Sender): Promise<Reply> => {
    if (request.method === 'OPTIONS') return emptyReply({ allow: route.allow })
    const rate = admit(request)
    try {
      const made =
        route.name === '/height'
          ? jsonReply(Buffer.from(JSON.stringify({ height: height() })))
          : await query(request, sender)
      return { ...made, headers: { ...rate, ...made.headers } }
    } catch (error) {
      const { status, headers, ...rest } = errorReply(toHttpError(error, onError))
      return { status, headers: { ...rate, ...headers }, ...rest }
    }
  }

  return {
    handle: (request, response) => {
      const sender = responder.track(request, response)
      const respond = async (): Promise<Reply> => reply(routeOf(request), request, sender)
      respond()
        .catch((error: unknown) => errorReply(toHttpError(error, onError)))
        .then(sender.send)
        .catch((error: unknown) => {
          toHttpError(error, onError)
          response.destroy()
        })
    },
    setAccess: (access) => {
      admit = createAdmission(access, clock)
    },
  }
}

const createQuery = ({ store, scope, dialect, clock }: QueryApiOptions, limits: QueryLimits) => {
  const limitConcurrency = createConcurrencyLimit({ limits, clock })
  const rules = { scope, limits, dialect }
  return async (request: IncomingMessage, { disconnected, withinBufferLimit }: Sender): Promise<Reply> => {
    checkType(request)
    const parsed = parseQuery(await readBody(request, limits.bodyBytes), rules)
    const { body, logs } = await withDeadline({ clock, signal: disconnected }, limits.answerMs, ({ signal }) =>
      limitConcurrency(
        () => withinBufferLimit(() => answerQuery(parsed, { store, dialect, limits, clock }, signal)),
        signal,
      ),
    )
    return jsonReply(body, logs)
  }
}
