import express, { type Request, type Response } from 'express'
import { ParseError } from '../core/errors.ts'
import { LIMITS } from '../core/limits.ts'
import { second } from '../core/units.ts'
import type { Routes } from './monitoring.ts'

const NOT_WATCHED = 'This agent watches no other node: set `watched.name` in its configuration.'

/** Receives the heartbeats of a watched node. */
export interface HeartbeatReceiver {
  /** Whether a node is watched. */
  isOpen(): boolean
  /** Does not keep that of a test. Throws a ParseError if it is not the document of an agent. */
  receive(text: string): void
}

/** An agent sends a kilobyte at once. Clients that send slowly must not hold the connections that Prometheus needs. */
const MAX_BODIES = 4
const IDLE_MS = 2 * second

/** Adds the route that receives the heartbeats of a watched node: the only one that changes anything. */
export const addHeartbeats = (add: Routes['add'], receiver: HeartbeatReceiver): void => {
  const { valueBytes } = LIMITS.response
  const readText = express.text({ type: () => true, limit: valueBytes })
  let bodies = 0
  const readBody = async (request: Request, response: Response): Promise<boolean> => {
    bodies += 1
    request.setTimeout(IDLE_MS, () => request.destroy())
    try {
      return await new Promise((resolve) => {
        request.once('close', () => {
          resolve(false)
        })
        readText(request, response, (problem?: unknown) => {
          resolve(problem === undefined)
        })
      })
    } finally {
      request.setTimeout(0)
      bodies -= 1
    }
  }

  add(
    '/api/v1/heartbeat',
    async (request, response) => {
      const reject = (status: number, text: string): void => {
        // The body may not have been read: the connection cannot be used again.
        response.status(status).set('Connection', 'close').type('text').send(`${text}\n`)
      }
      const problem = problemOf(request)
      if (problem) reject(...problem)
      else if (!receiver.isOpen()) reject(404, NOT_WATCHED)
      else if (bodies >= MAX_BODIES) reject(503, 'Other heartbeats are being received; try again.')
      else if (!(await readBody(request, response))) {
        if (!request.destroyed || request.complete) reject(400, 'The body could not be read: expected JSON in UTF-8.')
      } else {
        try {
          receiver.receive(String(request.body))
          response.type('text').send('accepted\n')
        } catch (thrown) {
          if (!(thrown instanceof ParseError)) throw thrown
          reject(400, thrown.summary)
        }
      }
    },
    'post',
  )
}

/** Why the request is rejected before its body is read. */
const problemOf = ({ headers }: Request): readonly [status: number, text: string] | undefined => {
  // A browser sends stored passwords also with a form of another site, and then this header.
  if (headers.origin !== undefined) return [403, 'Only agents post heartbeats.']
  const length = headers['content-length']
  if (length === undefined) return [411, 'The request has no Content-Length.']
  const most = LIMITS.response.valueBytes
  return Number(length) > most ? [413, `The body is too long: expected at most ${most} bytes.`] : undefined
}
