import type { Clock } from '../../core/clock.ts'
import { second } from '../../core/units.ts'
import type { Handler } from '../../exporter/service-server.ts'
import type { RequestObserver } from '../../query/service/api/response.ts'

const MESSAGES = {
  starting: 'the service is starting',
  stopped: 'the service has stopped to follow the chain; its log says why',
} as const

/** Answers everything with 503, in the form of the API. */
export const refuseAll = (
  code: keyof typeof MESSAGES,
  observer: RequestObserver,
  clock: Clock,
): Handler => {
  const body = Buffer.from(
    `${JSON.stringify({ error: { code, message: MESSAGES[code], path: null } })}\n`,
  )
  return (request, response) => {
    const startedAt = clock.elapsed()
    const [asked = ''] = (request.url ?? '').split('?')
    response.once('close', () => {
      observer.requestFinished({
        path: asked === '/query' || asked === '/height' ? asked : 'other',
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
      // A body that nobody has read would be taken for the next request.
      Connection: 'close',
    })
    response.end(body)
  }
}
