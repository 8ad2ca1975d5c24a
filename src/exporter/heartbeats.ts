import express from 'express'
import { ParseError } from '../core/errors.ts'
import { LIMITS } from '../core/limits.ts'
import type { Clock } from '../core/clock.ts'
import type { HeartbeatInbox } from '../domain/heartbeat.ts'
import { parseHeartbeat } from '../parsers/heartbeat.ts'
import type { Routes } from './monitoring.ts'

const NOT_WATCHED = 'This agent watches no other node: set `watched.name` in its configuration.\n'

interface HeartbeatView {
  readonly heartbeatInbox: HeartbeatInbox
  readonly clock: Clock
}

/** Adds the route that receives the heartbeats of a watched node: the only one that changes anything. */
export const addHeartbeats = (add: Routes['add'], view: HeartbeatView): void => {
  const readText = express.text({ type: () => true, limit: LIMITS.response.valueBytes })
  add(
    '/api/v1/heartbeat',
    async (request, response) => {
      const respond = (status: number, text: string): void => {
        response.status(status).type('text').send(text)
      }
      // A browser sends stored passwords also with a form of another site, and then this header.
      if (request.headers.origin !== undefined) {
        respond(403, 'Only agents post heartbeats.\n')
        return
      }
      if (!view.heartbeatInbox.isOpen) {
        respond(404, NOT_WATCHED)
        return
      }
      const problem = await new Promise<unknown>((resolve) => {
        readText(request, response, resolve)
      })
      if (problem !== undefined) {
        respond(400, `The body could not be read: expected at most ${LIMITS.response.valueBytes} bytes of JSON.\n`)
        return
      }
      try {
        const heartbeat = parseHeartbeat(String(request.body))
        view.heartbeatInbox.put({ receivedAt: view.clock.now(), heartbeat })
        respond(200, 'accepted\n')
      } catch (thrown) {
        if (!(thrown instanceof ParseError)) throw thrown
        respond(400, `${thrown.summary}\n`)
      }
    },
    'post',
  )
}
