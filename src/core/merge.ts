import type { Context } from './collector.ts'

/**
 * Yields the items of several streams in order of arrival. Ends when one of them ends, and throws what one of them
 * throws; the others are closed then. A mailbox instead of `Promise.race`: racing a promise that stays pending for days
 * leaves a callback on it at every turn.
 */
export async function* merge<T>(...streams: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
  const items: { readonly item: T; readonly taken: () => void }[] = []
  let ended: { readonly error?: unknown } | undefined
  let wake = (): void => undefined

  const pump = async (stream: AsyncGenerator<T>): Promise<void> => {
    try {
      for await (const item of stream) {
        // Waits until the item is consumed, so that a slow reader slows the stream down instead of using memory.
        await new Promise<void>((taken) => {
          items.push({ item, taken })
          wake()
        })
        if (ended) return
      }
      ended ??= {}
    } catch (error) {
      ended ??= { error }
    }
    wake()
  }
  for (const stream of streams) void pump(stream)

  try {
    for (;;) {
      const next = items.shift()
      if (next) {
        yield next.item
        next.taken()
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
    ended ??= {}
    for (const { taken } of items) taken()
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
