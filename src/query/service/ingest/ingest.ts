import { asError } from '../../../core/outcome.ts'
import { minute, second } from '../../../core/units.ts'
import { StoreError } from '../../store/errors.ts'
import { createBusy } from './busy.ts'
import { IngestError } from './errors.ts'
import { createHeaders } from './headers.ts'
import { createLogs } from './logs.ts'
import { type IngestOptions, MAX_ANSWER, settled } from './options.ts'
import { createRpc } from './rpc.ts'
import { createKeeper } from './retention.ts'
import { createRound } from './round.ts'
import { createKeeps } from './scope.ts'
import { createSource } from './source.ts'
import { type Ingest } from './state.ts'
import { createTally } from './tally.ts'
import { createTip } from './tip.ts'
import { createTransport } from './transport.ts'
import { createWriter } from './writer.ts'

const FIRST_WAIT = second
const LONGEST_WAIT = minute
/** Not longer, whatever the node says. */
const LONGEST_ASKED = 5 * minute

/** Takes final blocks from a node into a store, one request at a time. Throws a ConfigError for what must not be begun. */
export const createIngest = (given: IngestOptions): Ingest => {
  const options = settled(given)
  const { rpcUrl, store, clock, notice } = options
  const tally = createTally()
  const busy = createBusy(createTransport({ ...options, maxBytes: MAX_ANSWER }), clock)
  const rpc = createRpc(busy.post, rpcUrl)
  const headers = createHeaders(rpc)
  const writer = createWriter({ store, keeper: createKeeper(options), tally })
  const gather = createLogs({ rpc, mended: tally.failed, notice })
  const next = createSource({ ...options, headers, gather, keeps: createKeeps(options.scope) })
  const askTip = createTip({ ...options, rpc, headers, chainId: store.chainId })
  const round = createRound({ options, tally, askTip, next, writer, busy })

  /** In a row. Blocks that were read are no progress as long as none is written. */
  let failures = 0
  /** How many blocks, at the last failure. */
  let written = 0

  /** How long to wait after a failure. Throws what does not pass. */
  const recover = async (error: Error): Promise<number> => {
    await writer.settle()
    const { blocks } = tally.state()
    failures = blocks > written ? 1 : failures + 1
    written = blocks
    headers.forget()
    round.reset()
    tally.failed(error)
    if (!isPassing(error)) throw error
    tally.phase('waiting')
    const doubled = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** Math.min(failures - 1, 10))
    const asked = error instanceof IngestError ? (error.wait ?? 0) : 0
    return Math.max(doubled, Math.min(asked, LONGEST_ASKED))
  }

  const runUntil = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      let wait: number
      try {
        const step = await round.go(signal)
        if (step.isQuiet) failures = 0
        wait = step.wait
      } catch (thrown) {
        if (signal.aborted) return
        wait = await recover(asError(thrown))
      }
      if (wait > 0) await clock.sleep(wait, signal)
    }
  }

  return {
    state: tally.state,
    run: async (signal) => {
      try {
        await runUntil(signal)
      } finally {
        await writer.settle()
        tally.phase('stopped')
      }
    },
  }
}

const isPassing = (error: Error): boolean =>
  error instanceof IngestError || (error instanceof StoreError && error.kind === 'unavailable')
