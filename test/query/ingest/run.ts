import { createIngest } from '../../../src/query/service/ingest/ingest.ts'
import { type IngestOptions } from '../../../src/query/service/ingest/options.ts'
import { type IngestState } from '../../../src/query/service/ingest/state.ts'
import { type Block, type LogStore } from '../../../src/query/store/store.ts'
import { jumpingClock } from '../../support/jumping-clock.ts'
import { memoryStore } from '../../support/memory-store.ts'
import { type RpcNode } from '../../support/rpc-node.ts'

export const ANY = { addresses: [], topics: [] }

interface Watched {
  /** Every append so far. */
  readonly appended: readonly (readonly Block[])[]
  readonly store: LogStore
}

/** A store that remembers what was handed to it. */
export const watchedStore = (store: LogStore = memoryStore()): Watched => {
  const appended: (readonly Block[])[] = []
  return {
    appended,
    store: {
      ...store,
      append: async (blocks) => {
        await store.append(blocks)
        appended.push(blocks)
      },
    },
  }
}

interface Ran {
  readonly state: IngestState
  readonly notices: readonly string[]
  readonly waits: readonly number[]
  readonly error: unknown
}

type Given = Partial<IngestOptions> & {
  readonly node: RpcNode
  readonly store: LogStore
  readonly clock?: ReturnType<typeof jumpingClock>
}

/** Lets the ingest run until what it says of itself satisfies, or it ends by itself; a hundred waits are too many. */
export const ingestUntil = async (
  { node, clock = jumpingClock(), ...options }: Given,
  satisfies: (state: IngestState) => boolean,
): Promise<Ran> => {
  const stop = new AbortController()
  const notices: string[] = []
  const ingest = createIngest({
    rpcUrl: node.url,
    scope: ANY,
    fromBlock: 0,
    retention: 'unbounded',
    clock: {
      ...clock,
      sleep: async (ms, signal) => {
        // Between two steps only: nothing is under way then.
        if (ms !== 30_000 && (satisfies(ingest.state()) || clock.waits.length > 100)) stop.abort()
        await clock.sleep(ms, signal)
      },
    },
    notice: (line) => notices.push(line),
    ...options,
  })
  const error = await ingest.run(stop.signal).catch((thrown: unknown) => thrown)
  return { state: ingest.state(), notices, waits: clock.waits, error }
}
