import type { Clock } from '../../../core/clock.ts'
import { second } from '../../../core/units.ts'
import type { LogStore } from '../store.ts'
import { EngineFailedError } from './errors.ts'

interface ReopeningStoreOptions {
  readonly open: () => Promise<LogStore>
  readonly clock: Clock
}

/** In milliseconds. Each attempt to open reads the write-ahead log again, so failed attempts are spaced. */
const RETRY_EVERY_MS = 5 * second

/** Opens the store again after a fatal engine error, so that a full disk does not require a restart of the service. */
export const createReopeningStore = (first: LogStore, { open, clock }: ReopeningStoreOptions): LogStore => {
  let opened: Promise<LogStore> = Promise.resolve(first)
  let failedAt: number | null = null
  let isClosed = false

  /** Opens the store after `closed` resolves: two engine instances on one file in one process do not see each other. */
  const reopen = (closed: Promise<void>): void => {
    failedAt = null
    opened = closed.then(open).catch((error: unknown) => {
      failedAt = clock.elapsed()
      throw error
    })
    // The next operation receives this error.
    opened.catch(() => undefined)
  }
  const use = async <T>(act: (store: LogStore) => Promise<T>): Promise<T> => {
    if (failedAt !== null && clock.elapsed() - failedAt >= RETRY_EVERY_MS && !isClosed) reopen(Promise.resolve())
    const current = opened
    const store = await current
    try {
      return await act(store)
    } catch (error) {
      if (error instanceof EngineFailedError && opened === current && !isClosed) reopen(store.close())
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
      isClosed = true
      const last = await opened.catch(() => null)
      await last?.close()
    },
  }
}
