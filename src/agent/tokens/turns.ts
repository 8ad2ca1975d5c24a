import type { TimeLimits } from '../../collectors/tokens/feed.ts'
import type { Clock } from '../../core/clock.ts'

/** A stretch of work in pieces. */
export interface Stretch {
  readonly soft: number
  readonly signal: AbortSignal
  /** To be called after each piece: where its time is over, the signal ends the rest. */
  pieceDone(): void
}

/** Ends the work when its time is over, which is no failure: undefined then, unless it ends with something. */
export const within = async <T>(
  { soft, hard }: TimeLimits,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  work: (stretch: Stretch) => Promise<T>,
): Promise<T | undefined> => {
  const ending = new AbortController()
  const over = new AbortController()
  const end = (): void => {
    ending.abort()
  }
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted || hard <= 0) end()
  const began = clock.elapsed()
  void clock.sleep(hard, over.signal).then(end)
  const pieceDone = (): void => {
    if (clock.elapsed() - began >= soft) end()
  }
  try {
    return await work({ soft, signal: ending.signal, pieceDone })
  } catch (error) {
    if (!ending.signal.aborted) throw error
    return undefined
  } finally {
    signal.removeEventListener('abort', end)
    over.abort()
  }
}

/** The next begins when the one before has ended: what was given up goes on for a moment. */
export const oneAtATime = <Call extends readonly unknown[], T>(
  work: (...call: Call) => Promise<T>,
): ((...call: Call) => Promise<T>) => {
  let under: Promise<unknown> = Promise.resolve()
  return (...call) => {
    const mine = under.then(() => work(...call))
    under = mine.catch(() => undefined)
    return mine
  }
}
