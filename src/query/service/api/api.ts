import { type IncomingMessage, type ServerResponse } from 'node:http'
import { type Clock } from '../../../core/clock.ts'
import { withDeadline } from '../../../core/collector.ts'
import { type Secret } from '../../../core/secret.ts'
import type { Filter, LogStore } from '../../store/store.ts'
import { answer } from './answer.ts'
import { type Dialect } from './asked.ts'
import { checkType, readBody } from './body.ts'
import { createGate } from './gate.ts'
import { createDoor } from './keys.ts'
import { QUERY_LIMITS, type QueryLimits } from './limits.ts'
import { type Observed } from './observed.ts'
import { emptyReply, jsonReply, refusalReply, type Reply } from './reply.ts'
import { readRequest } from './request.ts'
import { createBudgets } from './rate.ts'
import { type Path, routeOf } from './routes.ts'
import { createSend } from './send.ts'
import { refusalOf } from './trouble.ts'

/** Who may ask, and how often. */
export interface Access {
  /** One of them is needed; empty: none is. */
  readonly keys: readonly Secret[]
  /** Of one key or, where none is needed, of one address. Null: no limit. */
  readonly requestsPerMinute: number | null
}

export interface QueryApiOptions {
  readonly store: LogStore
  /** What the store keeps of each block. */
  readonly scope: Filter
  /** The last block that is held; null while there is none. */
  readonly height: () => number | null
  readonly dialect: Dialect
  readonly access: Access
  readonly limits?: Partial<QueryLimits> | undefined
  readonly clock: Clock
  readonly observed: Observed
  /** Hears of a store that failed and of what is a bug of ours: each time. */
  readonly complain?: ((error: Error) => void) | undefined
}

type Sender = ReturnType<ReturnType<typeof createSend>['begin']>

type Handler = (request: IncomingMessage, response: ServerResponse) => void

export interface QueryApi {
  readonly handle: Handler
  /** For the requests from now on; every budget starts again. */
  setAccess(access: Access): void
}

/** Answers POST /query and GET /height. Never throws, never answers a request in part. */
export const createQueryApi = (options: QueryApiOptions): QueryApi => {
  const { clock, height, complain = () => undefined } = options
  const limits = { ...QUERY_LIMITS, ...options.limits }
  let admit = createAdmission(options.access, clock)
  const sending = createSend({ clock, limits, observed: options.observed })
  const query = createQuery(options, limits)

  const reply = async (path: Path, request: IncomingMessage, sender: Sender): Promise<Reply> => {
    if (request.method === 'OPTIONS') return emptyReply({ allow: path.allow })
    const rate = admit(request)
    try {
      const made =
        path.name === '/height'
          ? jsonReply(Buffer.from(JSON.stringify({ height: height() })))
          : await query(request, sender)
      return { ...made, headers: { ...rate, ...made.headers } }
    } catch (error) {
      const { status, headers, ...rest } = refusalReply(refusalOf(error, complain))
      return { status, headers: { ...rate, ...headers }, ...rest }
    }
  }

  return {
    handle: (request, response) => {
      const sender = sending.begin(request, response)
      const make = async (): Promise<Reply> => reply(routeOf(request), request, sender)
      make()
        .catch((error: unknown) => refusalReply(refusalOf(error, complain)))
        .then(sender.send)
        .catch((error: unknown) => {
          refusalOf(error, complain)
          response.destroy()
        })
    },
    setAccess: (access) => {
      admit = createAdmission(access, clock)
    },
  }
}

/** Returns the headers about the rate. Throws a Refusal without a valid key, or where the budget is spent. */
const createAdmission = ({ keys, requestsPerMinute }: Access, clock: Clock) => {
  const door = createDoor(keys)
  const budgets = createBudgets({ perMinute: requestsPerMinute, clock })
  return ({ headers, socket }: IncomingMessage) =>
    budgets(door(headers, socket.remoteAddress ?? ''))
}

const createQuery = ({ store, scope, dialect, clock }: QueryApiOptions, limits: QueryLimits) => {
  const gate = createGate({ limits, clock })
  const rules = { scope, limits, dialect }
  return async (request: IncomingMessage, { gone, inRoom }: Sender): Promise<Reply> => {
    checkType(request)
    const asked = readRequest(await readBody(request, limits.bodyBytes), rules)
    const { body, logs } = await withDeadline(
      { clock, signal: gone },
      limits.answerMs,
      ({ signal }) =>
        gate(() => inRoom(() => answer(asked, { store, dialect, limits, clock }, signal)), signal),
    )
    return jsonReply(body, logs)
  }
}
