import { type IncomingMessage, type ServerResponse } from 'node:http'
import { type Clock } from '../../../core/clock.ts'
import { second } from '../../../core/units.ts'
import { onEnd } from './connection.ts'
import { type QueryLimits } from './limits.ts'
import { type Observed } from './observed.ts'
import { packed } from './packing.ts'
import { later } from './refusal.ts'
import { type Reply } from './reply.ts'
import { nameOf } from './routes.ts'

interface SendOptions {
  readonly clock: Clock
  readonly limits: Pick<QueryLimits, 'sendMs' | 'unsentBytes'>
  readonly observed: Observed
}

const CLIENT_GONE = 499

export const createSend = ({ clock, limits, observed }: SendOptions) => {
  let unsent = 0
  return {
    /** Follows a request until its answer is out or the client went. */
    begin: (request: IncomingMessage, response: ServerResponse) => {
      const started = clock.elapsed()
      const gone = new AbortController()
      let sent = { bytes: 0, logs: 0 }
      let held = 0
      let isOut = false
      const hold = (bytes: number): void => {
        if (gone.signal.aborted) return
        unsent += bytes - held
        held = bytes
      }
      response.once('finish', () => {
        // What is cut off on the way finishes, too.
        isOut = !request.socket.destroyed
      })
      onEnd(request, response, () => {
        hold(0)
        gone.abort()
        observed.answered({
          path: labelOf(request),
          code: isOut ? response.statusCode : CLIENT_GONE,
          seconds: (clock.elapsed() - started) / second,
          bytes: isOut ? sent.bytes : 0,
          logs: isOut ? sent.logs : 0,
        })
      })
      /** Throws while clients leave too much of what was made for them. What is made counts at once. */
      const inRoom = async <T extends { readonly body: Buffer }>(
        make: () => Promise<T>,
      ): Promise<T> => {
        if (unsent > limits.unsentBytes)
          throw later('busy', 'too many answers are still being sent', 1)
        const made = await make()
        hold(made.body.length)
        return made
      }
      const put = async ({ status, headers, body, logs }: Reply): Promise<void> => {
        if (gone.signal.aborted) return
        const isBodiless = request.method === 'HEAD' || status === 204
        sent = isBodiless ? { bytes: 0, logs: 0 } : { bytes: body.length, logs }
        hold(sent.bytes)
        response.writeHead(status, {
          ...headers,
          ...(status !== 204 && { 'content-length': body.length }),
        })
        response.end(isBodiless ? undefined : body)
        await clock.sleep(limits.sendMs, gone.signal)
        if (!gone.signal.aborted) response.destroy()
      }
      // Only what goes out is kept meanwhile, not what it was before it was packed.
      const send = async (reply: Reply): Promise<void> => put(await packed(request, reply))
      return { gone: gone.signal, inRoom, send }
    },
  }
}

const labelOf = (request: IncomingMessage): '/query' | '/height' | 'other' => {
  const name = nameOf(request)
  return name === '/query' || name === '/height' ? name : 'other'
}
