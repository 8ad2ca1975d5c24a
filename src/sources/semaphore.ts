import { SourceError } from '../core/errors.ts'

/** Limits how many operations run at the same time; the others wait. */
export interface Semaphore {
  /** Waits for a free place, then runs. Throws a SourceError if `signal` aborts while waiting. */
  use<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T>
}

export const createSemaphore = (places: number): Semaphore => {
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
            { doing: 'run another tool', happened: `${places} tools are still running` },
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
