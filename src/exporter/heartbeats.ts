import { isUtf8 } from 'node:buffer'
import express, { type Request, type Response } from 'express'
import { ParseError } from '../core/errors.ts'
import { LIMITS } from '../core/limits.ts'
import { second } from '../core/units.ts'
import { networkOf } from './connections.ts'
import type { Routes } from './monitoring.ts'

/** Receives the heartbeats of a watched node. */
export interface HeartbeatReceiver {
  /** Whether a node is watched. */
  isOpen(): boolean
  /** Does not keep that of a test. Throws a ParseError if it is not the document of an agent. */
  receive(text: string): void
}

/** An agent sends a kilobyte at once. Clients that send slowly must not hold the connections that Prometheus needs. */
const MAX_BODIES = 16
const IDLE_MS = 2 * second

/**
 * The requests whose body is being read, oldest first. One more than `MAX_BODIES` ends the oldest of the client with the
 * most: a client that sends slowly does not keep others out.
 */
const createBodies = () => {
  const reading = new Map<Request, string>()
  return {
    add: (request: Request): void => {
      reading.set(request, networkOf(request.socket.remoteAddress ?? ''))
      if (reading.size <= MAX_BODIES) return
      const countOf = (client: string): number => [...reading.values()].filter((other) => other === client).length
      const [slowest] = [...reading].toSorted(([, a], [, b]) => countOf(b) - countOf(a))
      slowest?.[0].destroy()
    },
    remove: (request: Request): void => {
      reading.delete(request)
    },
  }
}

/** Adds the route that receives the heartbeats of a watched node: the only one that changes anything. */
export const addHeartbeats = (add: Routes['add'], receiver: HeartbeatReceiver): void => {
  const { valueBytes } = LIMITS.response
  const readBytes = express.raw({ type: () => true, limit: valueBytes })
  const bodies = createBodies()
  /** The text; undefined if it cannot be read or is not UTF-8. */
  const readBody = async (request: Request, response: Response): Promise<string | undefined> => {
    bodies.add(request)
    request.setTimeout(IDLE_MS, () => request.destroy())
    try {
      return await new Promise((resolve) => {
        request.once('close', () => {
          resolve(undefined)
        })
        readBytes(request, response, (problem?: unknown) => {
          const body: unknown = request.body
          resolve(problem === undefined && Buffer.isBuffer(body) && isUtf8(body) ? body.toString() : undefined)
        })
      })
    } finally {
      request.setTimeout(0)
      bodies.remove(request)
    }
  }

  add(
    '/api/v1/heartbeat',
    async (request, response) => {
      const reject = (status: number, text: string): void => {
        // The body may not have been read: the connection cannot be used again.
        response.status(status).set('Connection', 'close').type('text').send(`${text}\n`)
      }
      const problem = problemOf(request) ?? (receiver.isOpen() ? undefined : NOT_WATCHED)
      if (problem) {
        reject(...problem)
        return
      }
      const text = await readBody(request, response)
      if (text === undefined) {
        if (!request.destroyed || request.complete) reject(400, 'The body could not be read: expected JSON in UTF-8.')
        return
      }
      try {
        receiver.receive(text)
        response.type('text').send('accepted\n')
      } catch (thrown) {
        if (!(thrown instanceof ParseError)) throw thrown
        reject(400, thrown.summary)
      }
    },
    'post',
  )
}

type Problem = readonly [status: number, text: string]

const NOT_WATCHED: Problem = [404, 'This agent watches no other node: set `watched.name` in its configuration.']

/** Why the request is rejected before its body is read. */
const problemOf = ({ headers }: Request): Problem | undefined => {
  // A browser sends stored passwords also with a form of another site, and then this header.
  if (headers.origin !== undefined) return [403, 'Only agents post heartbeats.']
  const length = headers['content-length']
  if (length === undefined) return [411, 'The request has no Content-Length.']
  const most = LIMITS.response.valueBytes
  return Number(length) > most ? [413, `The body is too long: expected at most ${most} bytes.`] : undefined
}
