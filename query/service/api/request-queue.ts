import { type Clock, linkAbort } from '../../../src/core/clock.ts'
import { type HttpError, retryLater } from './http-error.ts'
import type { QueryLimits } from './limits.ts'

type QueueLimits = Pick<QueryLimits, 'concurrent' | 'waiting' | 'waitMs'>

interface Waiting {
  readonly client: string
  /** Ends the wait: with a slot, or without one if a client with fewer requests takes the place in the queue. */
  readonly end: (hasSlot: boolean) => void
}

const busy = (): HttpError => retryLater('busy', 'too many concurrent requests', 1)

/**
 * Slots for the work of requests, and a queue for them. Fair by client: a free slot is for the waiting client with the
 * fewest running requests, or of these for the one whose turn was the longest ago; and a full queue takes a request of a client with fewer waiting ones in place of the newest
 * request of the client with the most. The slot is released when the work ends, even if the client has disconnected.
 * Not p-limit, whose queue has one order and keeps work that timed out.
 */
export const createRequestQueue = (limits: QueueLimits, clock: Clock) => {
  /** In order of arrival. */
  const waiting = new Set<Waiting>()
  const running = new Map<string, number>()
  const runningOf = (client: string): number => running.get(client) ?? 0
  const total = (): number => [...running.values()].reduce((sum, requests) => sum + requests, 0)
  /** The turn in which each client got its last slot, while it has requests. */
  const turns = new Map<string, number>()
  let turn = 0
  const start = (client: string): void => {
    running.set(client, runningOf(client) + 1)
    turn += 1
    turns.set(client, turn)
  }

  /** The request that leaves a full queue for one of this client; undefined if the client has as many as any other. */
  const displaced = (client: string): Waiting | undefined => {
    const counts = new Map<string, number>([[client, 1]])
    for (const request of waiting) counts.set(request.client, (counts.get(request.client) ?? 0) + 1)
    const most = Math.max(...counts.values())
    return [...waiting].findLast((request) => counts.get(request.client) === most && most > (counts.get(client) ?? 0))
  }

  /** Throws if a request of this client would be rejected at the moment. */
  const expectRoom = (client: string): void => {
    if (total() < limits.concurrent || waiting.size < limits.waiting || displaced(client)) return
    throw busy()
  }

  const waitForSlot = async (client: string, signal: AbortSignal): Promise<boolean> => {
    if (waiting.size >= limits.waiting) displaced(client)?.end(false)
    const sleeping = linkAbort(signal)
    let isGranted = false
    const request: Waiting = {
      client,
      end: (hasSlot) => {
        isGranted = hasSlot
        waiting.delete(request)
        sleeping.abort()
      },
    }
    waiting.add(request)
    await clock.sleep(limits.waitMs, sleeping.signal)
    sleeping.abort()
    waiting.delete(request)
    return isGranted
  }

  /** The slot goes to the next request. */
  const release = (client: string): void => {
    if (runningOf(client) > 1) running.set(client, runningOf(client) - 1)
    else running.delete(client)
    const [next] = [...waiting].toSorted(
      (a, b) => runningOf(a.client) - runningOf(b.client) || (turns.get(a.client) ?? 0) - (turns.get(b.client) ?? 0),
    )
    if (next) {
      start(next.client)
      next.end(true)
    }
    for (const known of turns.keys())
      if (!running.has(known) && ![...waiting].some((request) => request.client === known)) turns.delete(known)
  }

  /** Does the work in a slot. Throws an HttpError if there is none in time. */
  const run = async <T>(work: () => Promise<T>, client: string, signal: AbortSignal): Promise<T> => {
    expectRoom(client)
    if (total() < limits.concurrent) start(client)
    else if (!(await waitForSlot(client, signal))) throw busy()
    try {
      return await work()
    } finally {
      release(client)
    }
  }
  return { expectRoom, run }
}

/** Slots for requests that wait, without a queue: a client does not get the share of others. */
export const createSlots = ({ total, perClient }: { readonly total: number; readonly perClient: number }) => {
  const taken = new Map<string, number>()
  let all = 0
  return {
    taken: () => all,
    /** Throws an HttpError if all slots are taken. The result releases the slot. */
    take: (client: string): (() => void) => {
      const own = taken.get(client) ?? 0
      if (all >= total || own >= perClient) throw busy()
      all += 1
      taken.set(client, own + 1)
      return () => {
        all -= 1
        const left = (taken.get(client) ?? 1) - 1
        if (left === 0) taken.delete(client)
        else taken.set(client, left)
      }
    },
  }
}
