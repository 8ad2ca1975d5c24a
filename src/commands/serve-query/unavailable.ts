import type { Clock } from '../../core/clock.ts'
import { second } from '../../core/units.ts'
import type { Handler } from '../../exporter/server.ts'
import type { RequestObserver } from '../../query/service/api/response.ts'

const MESSAGES = {
  starting: 'the service is starting',
  stopped: 'the service no longer follows the chain; see its log',
} as const

/** Responds to every request with status 503, in the format of the API. */
export const respondUnavailable = (code: keyof typeof MESSAGES, observer: RequestObserver, clock: Clock): Handler => {
  const body = Buffer.from(`${JSON.stringify({ error: { code, message: MESSAGES[code], path: null } })}\n`)
  return (request, response) => {
    const startedAt = clock.elapsed()
    const [pathname = ''] = (request.url ?? '').split('?')
    response.once('close', () => {
      observer.requestFinished({
        path: pathname === '/query' || pathname === '/height' ? pathname : 'other',
        code: 503,
        seconds: (clock.elapsed() - startedAt) / second,
        bytes: body.length,
        logs: 0,
      })
    })
    response.writeHead(503, {
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      'Retry-After': code === 'starting' ? 1 : 30,
      // An unread request body would be parsed as the next request.
      Connection: 'close',
    })
    response.end(body)
  }
}
