import express from 'express'
import { ParseError } from '../core/errors.ts'
import { LIMITS } from '../core/limits.ts'
import type { Routes } from './monitoring.ts'

const NOT_WATCHED = 'This agent watches no other node: set `watched.name` in its configuration.\n'

/** Receives the heartbeats of a watched node. */
export interface HeartbeatReceiver {
  /** Whether a node is watched. */
  isOpen(): boolean
  /** Does not keep that of a test. Throws a ParseError if it is not the document of an agent. */
  receive(text: string): void
}

/** Adds the route that receives the heartbeats of a watched node: the only one that changes anything. */
export const addHeartbeats = (add: Routes['add'], receiver: HeartbeatReceiver): void => {
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
      if (!receiver.isOpen()) {
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
        receiver.receive(String(request.body))
        respond(200, 'accepted\n')
      } catch (thrown) {
        if (!(thrown instanceof ParseError)) throw thrown
        respond(400, `${thrown.summary}\n`)
      }
    },
    'post',
  )
}
