import { type ExitCode, type Io, isInterrupted } from '../../../src/terminal/io.ts'
import { createProgress } from '../../../src/terminal/progress.ts'
import type { Config } from '../../../src/config/schema.ts'
import { backoff } from '../../../src/core/clock.ts'
import { asError, SourceError, summaryOf } from '../../../src/core/errors.ts'
import { count, duration, figure } from '../../../src/core/format.ts'
import { minute, second } from '../../../src/core/units.ts'
import { createBlockReader } from '../../service/ingest/block-reader.ts'
import { createScopeFilter } from '../../service/ingest/completeness.ts'
import { IngestError } from '../../service/ingest/errors.ts'
import { createHeaders, expectChain, readChainId } from '../../service/ingest/headers.ts'
import { createRpc } from '../../service/ingest/rpc.ts'
import { StoreError } from '../../store/errors.ts'
import type { Block, LogStore } from '../../store/store.ts'
import { createOpenStore, planOf } from './open-store.ts'

export interface BlockRange {
  readonly from: number
  readonly to: number
}

type RereadReport = ReturnType<typeof nothingRead>

/** What was read and replaced so far. */
const nothingRead = (range: BlockRange) => ({
  ...range,
  blocks: 0,
  /** Number of their logs in the store, before and after. */
  logsBefore: 0,
  logsAfter: 0,
  /** Number of blocks whose number of logs changed. */
  changedBlocks: 0,
})

/** The timeout of a request, the same as in the ingest. */
const TIMEOUT_MS = 30 * second
const MAX_RANGE = 1000
const MAX_WAIT_MS = minute
/** Without a complete block for this time the error is reported. */
const GIVE_UP_AFTER_MS = 10 * minute

interface RereadCommand {
  readonly config: Config
  readonly range: BlockRange
  readonly json: boolean
}

/**
 * Reads blocks of the store from the node again, verifies them as the ingest does, replaces their logs, and exits. Throws
 * an error that a retry does not fix; the blocks before it are replaced.
 */
export const reread = async (io: Io, exit: (code: ExitCode) => void, command: RereadCommand): Promise<void> => {
  const { config, range, json } = command
  const { from, to } = range
  const { clock, signal } = io
  const { scope } = planOf(config)
  const progress = createProgress(io)
  const started = clock.elapsed()
  // An existing store only: without a chain id none is created.
  const store = await createOpenStore(
    config.serveQuery,
    clock,
  )({ chainId: null, scope }).catch((error: unknown) => {
    throw error instanceof StoreError && error.kind === 'empty' ? noStore(range) : error
  })
  const say = (line: string): void => {
    progress.end()
    io.stderr.write(`${line}\n`)
  }
  let report = nothingRead(range)
  const readAndReplace = async (): Promise<void> => {
    const rpc = createRpc({ rpcUrl: config.rpc.url, clock, timeout: TIMEOUT_MS })
    const headers = createHeaders(rpc)
    const isInScope = createScopeFilter(scope)
    const readBlocks = createBlockReader({ rpc, headers, isInScope, maxRange: MAX_RANGE, clock, warn: say })
    /** Time of the last progress, and failures since then. */
    const since = { at: clock.elapsed(), failures: 0 }
    while (report.blocks < to - from + 1 && !signal.aborted) {
      try {
        const blocks = await readBlocks({ from: from + report.blocks, to, after: null, final: null, signal })
        const heads = await store.heads(blocks.map(({ number }) => number))
        await store.replace(blocks)
        report = withBlocks(report, blocks, new Map(heads.map(({ number, kept }) => [number, kept])))
        progress.show(progressText(report, clock.elapsed() - started))
        Object.assign(since, { at: clock.elapsed(), failures: 0 })
      } catch (thrown) {
        const error = asError(thrown)
        const isOver = signal.aborted || clock.elapsed() - since.at >= GIVE_UP_AFTER_MS
        if (isOver || !(error instanceof IngestError)) throw error
        headers.clear()
        since.failures += 1
        const wait = Math.max(error.wait ?? 0, backoff(since.failures, second, MAX_WAIT_MS))
        say(`${summaryOf(error)}; retrying in ${duration(wait)}`)
        await clock.sleep(wait, signal)
      }
    }
  }
  try {
    await expectHeld(store, range)
    expectChain(store.chainId, await readChainId({ rpcUrl: config.rpc.url, clock, timeout: TIMEOUT_MS }, signal))
    await readAndReplace()
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
  const isComplete = report.blocks === to - from + 1
  exit(isComplete ? 0 : isInterrupted(io) ? 130 : 1)
}

const withBlocks = (report: RereadReport, blocks: readonly Block[], kept: ReadonlyMap<number, number>) => {
  const next = { ...report }
  for (const { number, logs } of blocks) {
    const before = kept.get(number) ?? 0
    next.blocks += 1
    next.logsBefore += before
    next.logsAfter += logs.length
    if (before !== logs.length) next.changedBlocks += 1
  }
  return next
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

const progressText = ({ from, to, blocks }: RereadReport, elapsed: number): string => {
  const left = ((to - from + 1 - blocks) * elapsed) / blocks
  return `${figure(blocks)} of ${count(to - from + 1, 'block')} read again, ${duration(left)} left`
}

const textOf = ({ from, to, blocks, logsBefore, logsAfter, changedBlocks }: RereadReport): string => {
  const read = blocks === to - from + 1 ? `Blocks ${from} to ${to}` : `Blocks ${from} to ${from + blocks - 1} of ${to}`
  if (blocks === 0) return 'No block was read again.'
  return `${read} were read again (${count(blocks, 'block')}): ${count(logsBefore, 'log')} before, ${figure(logsAfter)} after, in ${count(changedBlocks, 'changed block')}.`
}
