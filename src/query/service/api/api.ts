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

export interface QueryApiOptions {
  readonly store: LogStore
  /** What the store keeps of each block. */
  readonly scope: Filter
  /** The last block that is held; null while there is none. */
  readonly height: () => number | null
  readonly dialect: Dialect
  /** One of them is needed; empty: none is. */
  readonly keys: readonly Secret[]
  readonly limits?: Partial<QueryLimits> | undefined
  readonly clock: Clock
  readonly observed: Observed
  /** Hears of a store that failed and of what is a bug of ours: each time. */
  readonly complain?: ((error: Error) => void) | undefined
}

type Sender = ReturnType<ReturnType<typeof createSend>['begin']>

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Answers POST /query and GET /height. Never throws, never answers a request in part. */
export const createQueryApi = (options: QueryApiOptions): Handler => {
  const { clock, height, complain = () => undefined } = options
  const limits = { ...QUERY_LIMITS, ...options.limits }
  const door = createDoor(options.keys)
  const budgets = createBudgets({ perMinute: limits.requestsPerMinute, clock })
  const sending = createSend({ clock, limits, observed: options.observed })
  const query = createQuery(options, limits)

  const reply = async (path: Path, request: IncomingMessage, sender: Sender): Promise<Reply> => {
    if (request.method === 'OPTIONS') return emptyReply({ allow: path.allow })
    const name = door(request.headers, request.socket.remoteAddress ?? '')
    const rate = budgets(name)
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

  return (request, response) => {
    const sender = sending.begin(request, response)
    const make = async (): Promise<Reply> => reply(routeOf(request), request, sender)
    make()
      .catch((error: unknown) => refusalReply(refusalOf(error, complain)))
      .then(sender.send)
      .catch((error: unknown) => {
        refusalOf(error, complain)
        response.destroy()
      })
  }
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
