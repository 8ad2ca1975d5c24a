import type { Clock } from '../../core/clock.ts'
import { SourceError, summaryOf } from '../../core/errors.ts'
import { asError, attempt } from '../../core/outcome.ts'
import { second } from '../../core/units.ts'
import { StoreError } from '../../query/store/errors.ts'
import type { Filter, LogStore } from '../../query/store/store.ts'
import type { Log } from './narrator.ts'
import type { OpenStore } from './open-store.ts'

interface Parts {
  readonly scope: Filter
  readonly open: OpenStore
  /** Asks the node which chain it is of. */
  readonly askChainId: (signal: AbortSignal) => Promise<number>
  readonly clock: Clock
  readonly log: Log
}

export interface Opened {
  readonly store: LogStore
  /** Resolves once the node has told that it is of the chain of the store; rejects where it is of another. */
  isOfChain(signal: AbortSignal): Promise<void>
}

const LONGEST_WAIT_MS = 10 * second

/**
 * Opens the store for the chain of the node. Where the node is away, a store that was made before is
 * opened for the chain that it was made for; without one there is nothing to do but to ask again.
 * Undefined where the signal came first.
 */
export const openFor = async (parts: Parts, signal: AbortSignal): Promise<Opened | undefined> => {
  const { scope, open, clock, askChainId } = parts
  const first = await attempt(clock, () => askChainId(signal))
  if (signal.aborted) return undefined
  if (!first.ok) {
    parts.log.warn(`${summaryOf(first.error)}; going on with what is held, and asking again`)
    const store = await openWithoutNode(parts)
    if (store) return { store, isOfChain: async (stop) => confirm(store, await ask(parts, stop)) }
  }
  const chainId = first.ok ? first.value : await ask(parts, signal)
  if (chainId === undefined) return undefined
  const store = await open({ chainId, scope })
  // A store that was opened for a chain is of it.
  return { store, isOfChain: () => Promise.resolve() }
}

const openWithoutNode = async ({ open, scope, log }: Parts): Promise<LogStore | undefined> => {
  try {
    return await open({ chainId: null, scope })
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind !== 'empty') throw error
    log.info('The store is yet to be made; waiting for the node to tell which chain it is for')
    return undefined
  }
}

/** Until it is answered; undefined where the signal came first. */
const ask = async (parts: Parts, signal: AbortSignal): Promise<number | undefined> => {
  const { askChainId, clock, log } = parts
  let told = ''
  for (let wait: number = second; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    await clock.sleep(wait, signal)
    if (signal.aborted) break
    try {
      const chainId = await askChainId(signal)
      log.info('The node answers')
      return chainId
    } catch (thrown) {
      const summary = summaryOf(asError(thrown))
      if (summary !== told && told !== '') log.warn(summary)
      told = summary
    }
  }
  return undefined
}

const confirm = ({ chainId }: LogStore, ofNode: number | undefined): void => {
  if (ofNode === undefined || ofNode === chainId) return
  throw new SourceError({
    doing: 'follow the node',
    happened: `it is of the chain ${ofNode}, and the store of the chain ${chainId}`,
    advice: 'name the node of that chain with --rpc-url, or another store with --store',
  })
}
