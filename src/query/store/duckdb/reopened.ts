import type { Clock } from '../../../core/clock.ts'
import { second } from '../../../core/units.ts'
import type { LogStore } from '../store.ts'
import { EngineLost } from './explain.ts'

interface Options {
  readonly open: () => Promise<LogStore>
  readonly clock: Clock
}

/** Where it could not be opened, the next try costs as much again: what is not yet in the file is read anew. */
const AGAIN_MS = 5 * second

/**
 * A store whose engine has given up is opened anew: a disk that was full for a while is no reason to refuse everything until
 * somebody starts the service again.
 */
export const reopened = (first: LogStore, { open, clock }: Options): LogStore => {
  let opened: Promise<LogStore> = Promise.resolve(first)
  let failedAt: number | null = null
  let closed = false

  /** `gone` ends before: two that are open in one process would not see each other. */
  const openAnew = (gone: Promise<void>): void => {
    failedAt = null
    opened = gone.then(open).catch((error: unknown) => {
      failedAt = clock.elapsed()
      throw error
    })
    // Who asks next is told.
    opened.catch(() => undefined)
  }
  const use = async <T>(act: (store: LogStore) => Promise<T>): Promise<T> => {
    if (failedAt !== null && clock.elapsed() - failedAt >= AGAIN_MS && !closed)
      openAnew(Promise.resolve())
    const mine = opened
    const store = await mine
    try {
      return await act(store)
    } catch (error) {
      if (error instanceof EngineLost && opened === mine && !closed) openAnew(store.close())
      throw error
    }
  }
  return {
    chainId: first.chainId,
    range: () => use((store) => store.range()),
    append: (blocks) => use((store) => store.append(blocks)),
    read: (selection, signal) => use((store) => store.read(selection, signal)),
    heads: (numbers) => use((store) => store.heads(numbers)),
    prune: (firstKept) => use((store) => store.prune(firstKept)),
    size: () => use((store) => store.size()),
    close: async () => {
      closed = true
      const last = await opened.catch(() => null)
      await last?.close()
    },
  }
}
