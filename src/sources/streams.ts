import type { Context } from '../core/clock.ts'
import { LIMITS } from '../core/limits.ts'

/** A line of a stream; undefined for a line that was too long. */
export type Line = string | undefined

/** Splits chunks of bytes into complete lines. UTF-8 is decoded per line, never across chunks. */
export const createLineSplitter = (maxBytes = LIMITS.journal.entryBytes) => {
  let pending: Uint8Array[] = []
  let size = 0
  let tooLong = false

  const take = (): Line => {
    const line = tooLong ? undefined : Buffer.concat(pending).toString('utf8')
    pending = []
    size = 0
    tooLong = false
    return line
  }
  const keep = (bytes: Uint8Array): void => {
    size += bytes.length
    if (size > maxBytes) {
      tooLong = true
      pending = []
    } else pending.push(bytes)
  }

  return (chunk: Uint8Array): readonly Line[] => {
    const lines: Line[] = []
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      keep(chunk.subarray(from, at))
      lines.push(take())
      from = at + 1
    }
    if (from < chunk.length) keep(chunk.subarray(from))
    return lines
  }
}

/** Items that wait for their reader. */
export const createMailbox = <T>() => {
  const waiting: { readonly item: T; readonly taken: () => void }[] = []
  let ended: { readonly error?: unknown } | undefined
  let isClosed = false
  let wake = (): void => undefined
  const endWith = (how: { readonly error?: unknown }): void => {
    ended ??= how
    wake()
  }
  return {
    /** Resolves when the item is read, so that a slow reader slows the writer down instead of using memory. */
    put: (item: T) =>
      new Promise<void>((taken) => {
        if (isClosed) {
          taken()
          return
        }
        waiting.push({ item, taken })
        wake()
      }),
    /** Ends the reader after the items that wait. */
    end: () => endWith({}),
    /** Throws the error at the reader after the items that wait. */
    fail: (error: unknown) => endWith({ error }),
    async *items(): AsyncGenerator<T> {
      try {
        for (;;) {
          const next = waiting.shift()
          if (next) {
            try {
              yield next.item
            } finally {
              next.taken()
            }
          } else if (ended) {
            if ('error' in ended) throw ended.error
            return
          } else {
            await new Promise<void>((resolve) => {
              wake = resolve
            })
          }
        }
      } finally {
        isClosed = true
        for (const { taken } of waiting) taken()
      }
    },
  }
}

/**
 * Yields the items of several streams in order of arrival. Ends when one of them ends, and throws what one of them
 * throws; the others are closed then. A mailbox instead of `Promise.race`: racing a promise that stays pending for days
 * leaves a callback on it at every turn.
 */
export async function* merge<T>(...streams: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
  const mailbox = createMailbox<T>()
  let hasEnded = false
  const pump = async (stream: AsyncGenerator<T>): Promise<void> => {
    try {
      for await (const item of stream) {
        await mailbox.put(item)
        if (hasEnded) return
      }
      mailbox.end()
    } catch (error) {
      mailbox.fail(error)
    }
  }
  for (const stream of streams) void pump(stream)
  try {
    yield* mailbox.items()
  } finally {
    hasEnded = true
  }
}

/** Yields `token` every `interval` milliseconds until the signal aborts. */
export async function* ticks<T>(interval: number, token: T, { clock, signal }: Context): AsyncGenerator<T> {
  for (;;) {
    await clock.sleep(interval, signal)
    if (signal.aborted) return
    yield token
  }
}
