import { type Clock } from '../../../core/clock.ts'
import { type Post } from './transport.ts'

/** Counts how long the node has had something to do for us. */
export interface Busy {
  readonly post: Post
  /** From each request to the end of its answer, or until there was none; in milliseconds. */
  total(): number
}

export const createBusy = (post: Post, clock: Clock): Busy => {
  let total = 0
  return {
    post: async (body, signal) => {
      const began = clock.elapsed()
      try {
        return await post(body, signal)
      } finally {
        total += clock.elapsed() - began
      }
    },
    total: () => total,
  }
}
