import { backoff } from '../../../core/clock.ts'
import { asError } from '../../../core/errors.ts'
import { minute, second } from '../../../core/units.ts'
import { StoreError } from '../../store/errors.ts'
import { createBlockReader } from './block-reader.ts'
import { createChainHeadReader } from './chain-head.ts'
import { IngestError } from './errors.ts'
import { createHeaders } from './headers.ts'
import { createLogFetcher } from './logs.ts'
import { createScopeFilter, type IngestOptions, MAX_ANSWER, withDefaults } from './options.ts'
import { createRetentionEnforcer } from './retention.ts'
import { createRpc } from './rpc.ts'
import { createStateTracker, type Ingest } from './state.ts'
import { createStepper } from './step.ts'
import { createNodeTimer, createTransport } from './transport.ts'
import { createWriter } from './writer.ts'

const FIRST_WAIT = second
const MAX_WAIT = minute
/** Upper limit for Retry-After. */
const MAX_RETRY_AFTER = 5 * minute

/** Copies final blocks from a node to a store, one request at a time. Throws a ConfigError for invalid options. */
export const createIngest = (ingestOptions: IngestOptions): Ingest => {
  const options = withDefaults(ingestOptions)
  const { rpcUrl, store, clock, notice } = options
  const tracker = createStateTracker()
  const nodeTimer = createNodeTimer(createTransport({ ...options, maxBytes: MAX_ANSWER }), clock)
  const rpc = createRpc(nodeTimer.send, rpcUrl)
  const headers = createHeaders(rpc)
  const writer = createWriter({ store, retention: createRetentionEnforcer(options), tracker })
  const fetchLogs = createLogFetcher({ rpc, onRepaired: tracker.recordFailure, notice })
  const readBlocks = createBlockReader({
    ...options,
    headers,
    fetchLogs,
    isInScope: createScopeFilter(options.scope),
  })
  const readChainHead = createChainHeadReader({ ...options, rpc, headers, chainId: store.chainId })
  const stepper = createStepper({ options, tracker, readChainHead, readBlocks, writer, nodeTimer })

  /** Consecutive failures. Blocks that were read count as progress only once they are written. */
  let failures = 0
  /** Blocks written by the last failure. */
  let blocksAtFailure = 0

  /** Returns the delay before the next attempt, in milliseconds. Throws errors that a retry cannot fix. */
  const recover = async (error: Error): Promise<number> => {
    await writer.settle()
    const { blocks } = tracker.state()
    failures = blocks > blocksAtFailure ? 1 : failures + 1
    blocksAtFailure = blocks
    headers.clear()
    stepper.reset()
    tracker.recordFailure(error)
    if (!isTransient(error)) throw error
    tracker.setPhase('waiting')
    const doubled = backoff(failures, FIRST_WAIT, MAX_WAIT)
    const retryAfter = error instanceof IngestError ? (error.wait ?? 0) : 0
    return Math.max(doubled, Math.min(retryAfter, MAX_RETRY_AFTER))
  }

  const runUntil = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      let wait: number
      try {
        const step = await stepper.next(signal)
        if (step.isIdle) failures = 0
        wait = step.wait
      } catch (thrown) {
        if (signal.aborted) return
        wait = await recover(asError(thrown))
      }
      if (wait > 0) await clock.sleep(wait, signal)
    }
  }

  return {
    state: tracker.state,
    run: async (signal) => {
      try {
        await runUntil(signal)
      } finally {
        await writer.settle()
        tracker.setPhase('stopped')
      }
    },
  }
}

const isTransient = (error: Error): boolean =>
  error instanceof IngestError || (error instanceof StoreError && error.kind === 'unavailable')
