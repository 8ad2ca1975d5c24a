import { SourceError } from '../core/errors.ts'

/** Lets only so many run at once; the others wait their turn. */
export interface Slots {
  /** Waits for a place, runs, gives the place back. Throws a SourceError when `signal` aborts while waiting. */
  use<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T>
}

export const createSlots = (places: number): Slots => {
  let free = places
  const waiting: (() => void)[] = []

  const enter = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (free > 0) {
        free -= 1
        resolve()
        return
      }
      const admit = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        waiting.splice(waiting.indexOf(admit), 1)
        reject(
          new SourceError(
            { doing: 'run another tool', happened: `${places} are still running` },
            { timeout: true },
          ),
        )
      }
      waiting.push(admit)
      signal.addEventListener('abort', leave, { once: true })
    })

  return {
    use: async (signal, run) => {
      await enter(signal)
      try {
        return await run()
      } finally {
        const next = waiting.shift()
        if (next) next()
        else free += 1
      }
    },
  }
}
