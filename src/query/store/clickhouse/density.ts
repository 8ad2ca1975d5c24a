import type { Block } from '../store.ts'
import { dataBytes } from './encode-rows.ts'

/** Approximate number of logs and bytes per range of blocks, so that a read selects about as much as it needs. */
export interface Density {
  add(blocks: readonly Block[]): void
  /** The last block of a range that should not exceed `most`; at least `from`. */
  reach(span: { readonly from: number; readonly to: number }, most: Amount): number
}

export interface Amount {
  readonly logs: number
  /** Bytes of log data. */
  readonly bytes: number
}

interface Chunk extends Amount {
  readonly blocks: number
}

/** Block numbers per chunk. */
export const CHUNK = 1024

export const createDensity = (known: ReadonlyMap<number, Chunk>): Density => {
  const chunks = new Map(known)
  return {
    add: (blocks) => {
      for (const { number, logs } of blocks) {
        const chunk = Math.floor(number / CHUNK)
        const { logs: before, bytes, blocks: count } = chunks.get(chunk) ?? NONE
        chunks.set(chunk, {
          logs: before + logs.length,
          bytes: bytes + dataBytes(logs),
          blocks: count + 1,
        })
      }
    },
    reach: ({ from, to }, most) => {
      let left = most
      let at = from
      while (at <= to) {
        const end = Math.min(to, (Math.floor(at / CHUNK) + 1) * CHUNK - 1)
        const { logs, bytes, blocks } = chunks.get(Math.floor(at / CHUNK)) ?? NONE
        // Assumes an even distribution within the chunk.
        const share = (end - at + 1) / Math.max(1, blocks)
        const fits = Math.min(left.logs / (logs * share), left.bytes / (bytes * share))
        if (fits < 1) return Math.max(from, at - 1 + Math.floor(fits * (end - at + 1)))
        left = { logs: left.logs - logs * share, bytes: left.bytes - bytes * share }
        at = end + 1
      }
      return to
    },
  }
}

const NONE: Chunk = { logs: 0, bytes: 0, blocks: 0 }
