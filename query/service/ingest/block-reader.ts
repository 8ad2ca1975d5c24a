import type { Clock } from '../../../src/core/clock.ts'
import { summaryOf } from '../../../src/core/errors.ts'
import { second } from '../../../src/core/units.ts'
import type { Block, StoredLog } from '../../store/store.ts'
import {
  type BlockLogs,
  blockOf,
  createIsLastLog,
  createReceiptReader,
  filterCoverage,
  findFlaw,
  groupByBlock,
  isEmptyFilter,
  type LogPredicate,
} from './completeness.ts'
import {
  FatalIngestError,
  IngestError,
  LimitExceededError,
  NodeRejectedError,
  NodeTimeoutError,
  TooLargeError,
} from './errors.ts'
import { type Headers, unlinked } from './headers.ts'
import { type FullHeader, type LogGroup, parseLogs, parseResult } from './parse.ts'
import { createBatchSizer, invalidResponse, type Rpc } from './rpc.ts'

export interface Position {
  readonly number: number
  readonly hash: string
}

interface BlockRequest {
  readonly from: number
  readonly to: number
  /** The previous block, if it is in the store. */
  readonly after: Position | null
  /** The block that the node reported as final, if its hash is known. */
  readonly final: Position | null
  readonly signal: AbortSignal
}

/** Reads the first of the requested blocks: complete, linked, and with the logs in scope. At least one. */
export type ReadBlocks = (wanted: BlockRequest) => Promise<readonly Block[]>

interface BlockReaderOptions {
  readonly rpc: Rpc
  readonly headers: Headers
  readonly isInScope: LogPredicate | null
  readonly maxRange: number
  /** Called for each fault that does not fail the whole request: other responses repair it, or blocks before it are read. */
  readonly onFault?: (error: IngestError) => void
  readonly notice?: (line: string) => void
  /** Called with a kind of incomplete response that the ingest can no longer detect. */
  readonly warn?: (line: string) => void
  readonly clock: Clock
}

/** Nodes send up to 25 MB; a third of it is as fast and uses less memory. */
const RESPONSE_CHARACTERS = 8_000_000
/** In milliseconds. After a slower response the next request is smaller. */
const SLOW = 5 * second
/** Below this number of blocks, a slow response is not caused by the number of blocks. */
const FEW = 16

export const createBlockReader = (options: BlockReaderOptions): ReadBlocks => {
  const { headers, isInScope, maxRange, clock } = options
  const fetchLogs = createLogFetcher(options)
  const sizer = createBatchSizer({
    first: Math.min(8, maxRange),
    most: maxRange,
    characters: RESPONSE_CHARACTERS,
  })
  const noticeOnce = createOnce(options.notice ?? nothing)
  return async ({ from, to, after, final, signal }) => {
    let rejection: Error | null = null
    for (;;) {
      const heads = await headers.take(from, Math.min(to, from + sizer.size() - 1), signal)
      expectFinal(final, heads.at(-1))
      if (after !== null) await expectLinked(headers, { after, head: heads[0] }, signal)
      try {
        const startedAt = clock.elapsed()
        const { logs, size } = await fetchLogs(heads, signal)
        sizer.record(heads.length, size)
        const isSlow = clock.elapsed() - startedAt > SLOW
        if (isSlow && heads.length > FEW) sizer.reduce(heads.length)
        // The text of the node once: the next ones may differ in their numbers only.
        if (rejection !== null) noticeOnce(FEWER_BLOCKS, summaryOf(rejection))
        return heads.slice(0, logs.size).map((head) => blockOf(head, logs.get(head.number) ?? [], isInScope))
      } catch (error) {
        const isRejection = mayMeanTooLarge(error)
        if (isRejection || error instanceof NodeTimeoutError) sizer.reduce(heads.length)
        if (!isRejection || heads.length === 1) throw error
        rejection = error
      }
    }
  }
}

const nothing = (): void => undefined

const FEWER_BLOCKS = 'requesting fewer blocks at a time, which the node accepts; before: '

const METHOD_NOT_FOUND = -32_601

/** Nodes have their own codes and texts for a range that is too large, and change them. */
const mayMeanTooLarge = (error: unknown): error is IngestError =>
  error instanceof TooLargeError ||
  error instanceof LimitExceededError ||
  (error instanceof NodeRejectedError && error.rpcCode !== METHOD_NOT_FOUND)

/** Several nodes may share one address, and a final block of one may be a proposal on another. */
const expectFinal = (final: Position | null, head: FullHeader | undefined): void => {
  if (final === null || head?.number !== final.number || head.hash === final.hash) return
  throw new IngestError('unlinked', {
    doing: `read block ${final.number} from the node`,
    happened: 'its hash differs from the one that the node reported as final',
    evidence: `final: ${short(final.hash)}, this one: ${short(head.hash)}`,
    advice: 'if several nodes share this address, use the address of one of them',
  })
}

const expectLinked = async (
  headers: Headers,
  { after, head }: { readonly after: Position; readonly head: FullHeader | undefined },
  signal: AbortSignal,
): Promise<void> => {
  if (head === undefined || head.parentHash === after.hash) return
  const nodeBlock = await headers.finalAt(after.number, signal)
  // If the node agrees about the previous block, its response about this block was wrong.
  if (nodeBlock === null || nodeBlock.hash === after.hash) throw unlinked(after, head)
  throw new FatalIngestError({
    doing: `continue after block ${after.number}`,
    happened: 'the node now has another block in place of the final block in the store',
    evidence: `store: ${short(after.hash)}, node: ${short(nodeBlock.hash)}`,
    advice: 'check whether the node is on the right chain and fork; if the store is wrong, create a new one',
  })
}

/** Enough to distinguish two hashes; a full hash looks like a secret and would be redacted. */
const short = (hash: string): string => `${hash.slice(0, 10)}…`

interface BlockResponse {
  readonly head: FullHeader
  readonly blockLogs: BlockLogs
  readonly isLast: boolean
}

/** Up to this number, blocks are requested one by one by hash, so that the response cannot be of another fork. */
const BY_HASH = 4

/**
 * Reads all logs of these blocks and verifies that none is missing: of all requested blocks, or of those before the first
 * incomplete one. `size` is in characters that the node sent. Throws a TooLargeError if fewer blocks must be requested, and
 * an IngestError('incomplete') if the first block lacks logs.
 */
const createLogFetcher = (options: BlockReaderOptions) => {
  const { rpc, onFault = nothing, notice = nothing, warn = nothing } = options
  const readLogsFromReceipts = createReceiptReader(rpc)
  const isLastLog = createIsLastLog(rpc)
  const noticeOnce = createOnce(notice)
  const warnOnce = createOnce(warn)
  /** A block with logs had an empty filter. */
  let areFiltersEmpty = false

  const request = async (filter: Readonly<Record<string, string>>, signal: AbortSignal) => {
    const { result, size } = await rpc.one({ method: 'eth_getLogs', params: [filter] }, signal)
    if (result === null) {
      throw new IngestError('incomplete', {
        doing: 'read the logs of a block',
        happened: 'the node returned null instead of a list',
      })
    }
    return { groups: parseResult('logs', result, parseLogs), size }
  }

  const requestRange = async (heads: readonly FullHeader[], signal: AbortSignal) => {
    const [from = 0, to = 0] = [heads[0]?.number, heads.at(-1)?.number]
    return request({ fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` }, signal)
  }

  const requestBlock = async (head: FullHeader, signal: AbortSignal) => {
    try {
      return await request({ blockHash: head.hash }, signal)
    } catch (error) {
      if (error instanceof NodeRejectedError) return await requestRange([head], signal)
      if (!(error instanceof TooLargeError)) throw error
      noticeOnce('some blocks have too many logs for one response: reading their receipts instead')
      return { groups: await readLogsFromReceipts(head, signal), size: 0 }
    }
  }

  /** The same as isLastLog, by all receipts of the block. */
  const isLastInReceipts = async (head: FullHeader, logs: readonly StoredLog[], signal: AbortSignal) => {
    try {
      const complete = groupByBlock([head], await readLogsFromReceipts(head, signal))?.get(head.number)
      return complete === undefined ? false : complete.logs.length <= logs.length
    } catch (error) {
      if (error instanceof NodeRejectedError) return null
      throw error
    }
  }

  /**
   * Checks for missing logs at the end of a block, where no logIndex shows them: by the filter in the header, and by the
   * receipts of the last transactions if the filter cannot show them. `isLast`: the response has no logs after those of
   * this block, so it may have been cut within it, and the missing logs may have no other addresses and topics.
   */
  const findFlawAtEnd = async ({ head, blockLogs: { logs }, isLast }: BlockResponse, signal: AbortSignal) => {
    const coverage = filterCoverage(head, logs)
    if (coverage === 'missing') return MISSING_IN_FILTER
    const isShown = coverage === 'complete' && !(logs.length === 0 ? areFiltersEmpty : isLast)
    if (isShown || head.transactions.length === 0) return null
    const isEnd = (await isLastLog(head, logs, signal)) ?? (await isLastInReceipts(head, logs, signal))
    if (isEnd === null) {
      warnOnce('the node does not return receipts: not all logs that are missing at the end of a block can be detected')
    }
    return isEnd === false ? 'its receipts have logs that are missing in the response' : null
  }

  const readFromReceipts = async ({ head, blockLogs }: BlockResponse, flaw: string, signal: AbortSignal) => {
    const complete = groupByBlock([head], await readLogsFromReceipts(head, signal))?.get(head.number)
    const remaining = complete === undefined ? 'the logs belong to another block' : findFlaw(head, complete)
    if (complete === undefined || remaining !== null) {
      throw incomplete(head, `${remaining}; also in its receipts`)
    }
    // Some nodes leave the logs of the chain itself out of the receipts.
    if (!blockLogs.isMixed && blockLogs.logs.some(({ logIndex }) => logIndex >= complete.logs.length)) {
      throw incomplete(head, 'its receipts have fewer logs')
    }
    // The same logs may be missing in both responses for a while.
    if (filterCoverage(head, complete.logs) === 'missing')
      throw incomplete(head, `${MISSING_IN_FILTER} and in its receipts`)
    onFault(incomplete(head, flaw))
    return complete.logs
  }

  const readBlock = async (response: BlockResponse, signal: AbortSignal) => {
    const { head, blockLogs } = response
    const flaw = findFlaw(head, blockLogs) ?? (await findFlawAtEnd(response, signal))
    return flaw === null ? blockLogs.logs : await readFromReceipts(response, flaw, signal)
  }

  const readGroups = async (heads: readonly FullHeader[], signal: AbortSignal) => {
    if (heads.length > BY_HASH) return await requestRange(heads, signal)
    const all = { groups: new Array<LogGroup>(), size: 0 }
    for (const head of heads) {
      const { groups, size } = await requestBlock(head, signal)
      all.groups.push(...groups)
      all.size += size
    }
    return all
  }

  return async (heads: readonly FullHeader[], signal: AbortSignal) => {
    const { groups, size } = await readGroups(heads, signal)
    const all = groupByBlock(heads, groups)
    if (all === null) throw invalidResponse('understand logs', 'logs of the requested blocks', '')
    areFiltersEmpty ||= heads.some((head) => {
      const blockLogs = all.get(head.number) ?? NO_LOGS
      return blockLogs.logs.length > 0 && isEmptyFilter(head) && findFlaw(head, blockLogs) === null
    })
    const lastWithLogs = heads.findLast(({ number }) => all.get(number)?.logs.length !== 0)
    const logs = new Map<number, readonly StoredLog[]>()
    for (const head of heads) {
      const isLast = head === lastWithLogs || heads.length <= BY_HASH
      try {
        logs.set(head.number, await readBlock({ head, blockLogs: all.get(head.number) ?? NO_LOGS, isLast }, signal))
      } catch (error) {
        const isOfBlock = error instanceof IngestError && !(error instanceof TooLargeError)
        if (!isOfBlock || logs.size === 0) throw error
        onFault(error)
        // The blocks before it are stored; it is requested again as the first.
        break
      }
    }
    return { logs, size }
  }
}

const NO_LOGS: BlockLogs = { logs: [], isMixed: false }

const MISSING_IN_FILTER = 'the filter (logsBloom) in its header has logs that are missing in the response'

const incomplete = ({ number }: FullHeader, flaw: string): IngestError =>
  new IngestError('incomplete', {
    doing: 'read all logs of a block',
    happened: flaw,
    evidence: `block ${number}`,
  })

/** Logs each message once, since it holds for block after block. */
const createOnce = (log: (line: string) => void) => {
  const logged = new Set<string>()
  return (line: string, detail = ''): void => {
    if (!logged.has(line)) log(`${line}${detail}`)
    logged.add(line)
  }
}
