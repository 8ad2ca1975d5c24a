import { type ExitCode, type Io, isInterrupted } from '../../../src/terminal/io.ts'
import { createProgress } from '../../../src/terminal/progress.ts'
import type { Config } from '../../../src/config/schema.ts'
import { asError, SourceError, summaryOf } from '../../../src/core/errors.ts'
import { count, duration, figure } from '../../../src/core/format.ts'
import { second } from '../../../src/core/units.ts'
import { readChainId } from '../../service/ingest/headers.ts'
import { type BlockRange, rereadBlocks, type RereadReport } from '../../service/ingest/reread.ts'
import { StoreError } from '../../store/errors.ts'
import type { LogStore } from '../../store/store.ts'
import { createOpenStore, type OpenStore, planOf } from './open-store.ts'

/** The timeout of a request, the same as in the ingest. */
const TIMEOUT_MS = 30 * second

interface RereadCommand {
  readonly config: Config
  readonly range: BlockRange
  readonly json: boolean
  /** Replaces the configured store in tests. */
  readonly open?: OpenStore
}

/** Reads blocks of the store from the node again, and exits. */
export const reread = async (io: Io, exit: (code: ExitCode) => void, command: RereadCommand): Promise<void> => {
  const { config, range, json } = command
  const { clock, signal } = io
  const plan = planOf(config)
  const rpcUrl = config.rpc.url
  const progress = createProgress(io)
  const started = clock.elapsed()
  const open = command.open ?? createOpenStore(config.serveQuery, clock)
  // An existing store only: without a chain id none is created.
  const store = await open({ chainId: null, scope: plan.scope }).catch((error: unknown) => {
    throw error instanceof StoreError && error.kind === 'empty' ? noStore(range) : error
  })
  const say = (line: string): void => {
    progress.end()
    io.stderr.write(`${line}\n`)
  }
  let report: RereadReport = { ...range, blocks: 0, logsBefore: 0, logsAfter: 0, changedBlocks: 0 }
  try {
    await expectHeld(store, range)
    expectChain(store, await readChainId({ rpcUrl, clock, timeout: TIMEOUT_MS }, signal))
    await rereadBlocks(
      {
        ...range,
        rpcUrl,
        store,
        scope: plan.scope,
        clock,
        onProgress: (next) => {
          report = next
          progress.show(progressText(next, clock.elapsed() - started))
        },
        onRetry: (error, wait) => {
          say(`${summaryOf(error)}; retrying in ${duration(wait)}`)
        },
        warn: say,
      },
      signal,
    )
    progress.end()
  } catch (error) {
    progress.end()
    if (!signal.aborted) {
      if (report.blocks > 0) io.stderr.write(`${textOf(report)}\n`)
      throw asError(error)
    }
  } finally {
    await store.close()
  }
  io.stdout.write(json ? `${JSON.stringify(report)}\n` : `${textOf(report)}\n`)
  const isComplete = report.blocks === range.to - range.from + 1
  exit(isComplete ? 0 : isInterrupted(io) ? 130 : 1)
}

const doingOf = ({ from, to }: BlockRange): string => `read blocks ${from} to ${to} again`

const noStore = (range: BlockRange): SourceError =>
  new SourceError({
    doing: doingOf(range),
    happened: 'there is no store yet',
    advice: 'use the same --store and limits as the service',
  })

const expectHeld = async (store: LogStore, range: BlockRange): Promise<void> => {
  const held = await store.range()
  if (held !== null && range.from >= held.first && range.to <= held.last) return
  throw new SourceError({
    doing: doingOf(range),
    happened: held === null ? 'the store has no blocks yet' : `the store has blocks ${held.first} to ${held.last}`,
    advice: 'name blocks that are in the store: only these are read again',
  })
}

const expectChain = ({ chainId }: LogStore, nodeChainId: number): void => {
  if (chainId === nodeChainId) return
  throw new SourceError({
    doing: 'read blocks from the node',
    happened: 'the node and the store are of different chains',
    evidence: `store: ${chainId}, node: ${nodeChainId}`,
    advice: 'use --rpc-url with a node of the chain of the store',
  })
}

const progressText = ({ from, to, blocks }: RereadReport, elapsed: number): string => {
  const left = ((to - from + 1 - blocks) * elapsed) / blocks
  return `${figure(blocks)} of ${count(to - from + 1, 'block')} read again, ${duration(left)} left`
}

const textOf = ({ from, to, blocks, logsBefore, logsAfter, changedBlocks }: RereadReport): string => {
  const read = blocks === to - from + 1 ? `Blocks ${from} to ${to}` : `Blocks ${from} to ${from + blocks - 1} of ${to}`
  if (blocks === 0) return 'No block was read again.'
  return `${read} were read again (${count(blocks, 'block')}): ${count(logsBefore, 'log')} before, ${figure(logsAfter)} after, in ${count(changedBlocks, 'changed block')}.`
}
