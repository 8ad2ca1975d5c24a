import type { Clock } from '../../../core/clock.ts'
import { second } from '../../../core/units.ts'
import type { Block, StoredLog } from '../../store/store.ts'
import {
  type BlockLogs,
  blockOf,
  createIsLastLog,
  createReceiptReader,
  findFlaw,
  groupByBlock,
  isBloomUsable,
  type LogPredicate,
  logsCoverBloom,
} from './completeness.ts'
import { FatalIngestError, IngestError, NodeRejectedError, NodeTimeoutError, TooLargeError } from './errors.ts'
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

interface LogFetcherOptions {
  readonly rpc: Rpc
  /** Called for each block whose logs were incomplete and are read from receipts. */
  readonly onRepaired: (error: IngestError) => void
  readonly notice: (line: string) => void
}

interface BlockReaderOptions extends LogFetcherOptions {
  readonly headers: Headers
  readonly isInScope: LogPredicate | null
  readonly maxRange: number
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
  return async ({ from, to, after, final, signal }) => {
    for (;;) {
      const heads = await headers.take(from, Math.min(to, from + sizer.size() - 1), signal)
      expectFinal(final, heads.at(-1))
      if (after !== null) await expectLinked(headers, { after, head: heads[0], signal })
      try {
        const startedAt = clock.elapsed()
        const { logs, size } = await fetchLogs(heads, signal)
        sizer.record(heads.length, size)
        const isSlow = clock.elapsed() - startedAt > SLOW
        if (isSlow && heads.length > FEW) sizer.reduce(heads.length)
        return heads.map((head) => blockOf(head, logs.get(head.number) ?? [], isInScope))
      } catch (error) {
        const mayShrink = error instanceof TooLargeError || error instanceof NodeTimeoutError
        if (mayShrink) sizer.reduce(heads.length)
        if (!(error instanceof TooLargeError) || heads.length === 1) throw error
      }
    }
  }
}

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

interface LinkCheck {
  readonly after: Position
  readonly head: FullHeader | undefined
  readonly signal: AbortSignal
}

const expectLinked = async (headers: Headers, { after, head, signal }: LinkCheck): Promise<void> => {
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

interface IncompleteLogs {
  readonly head: FullHeader
  readonly blockLogs: BlockLogs
  readonly flaw: string
}

/** Up to this number, blocks are requested one by one by hash, so that the response cannot be of another fork. */
const BY_HASH = 4
/** After this number of filters that the receipts disprove, filters are ignored. */
const FILTER_FAULTS = 3

interface FetchedLogs {
  /** All logs of each block, in order. */
  readonly logs: ReadonlyMap<number, readonly StoredLog[]>
  /** Characters that the node sent for them. */
  readonly size: number
}

/**
 * Reads all logs of these blocks and verifies that none is missing. Throws a TooLargeError if fewer blocks must be
 * requested.
 */
const createLogFetcher = ({ rpc, onRepaired, notice }: LogFetcherOptions) => {
  const readLogsFromReceipts = createReceiptReader(rpc)
  const isLastLog = createIsLastLog(rpc)
  const noticeOnce = createNoticeOnce(notice)
  let filterFaults = 0

  const request = async (filter: Readonly<Record<string, string>>, signal: AbortSignal) => {
    const { result, size } = await rpc.one({ method: 'eth_getLogs', params: [filter] }, signal)
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

  /**
   * Checks for missing logs at the end of a block, where no logIndex shows them: by the filter in the header, or by the
   * receipts of the last transactions.
   */
  const findFlawAtEnd = async (head: FullHeader, { logs }: BlockLogs, signal: AbortSignal) => {
    const trustsFilter = filterFaults < FILTER_FAULTS
    if (trustsFilter && !logsCoverBloom(head.bloom, logs)) return MISSING_IN_FILTER
    if (logs.length === 0 || (trustsFilter && isBloomUsable(head.bloom))) return null
    const isEnd = await isLastLog(head, logs, signal)
    if (isEnd === null) {
      noticeOnce(
        'the node does not return receipts of single transactions: missing logs at the end of very large blocks cannot be detected',
      )
    }
    return isEnd === false ? 'its receipts have logs that are missing in the response' : null
  }

  const readFromReceipts = async ({ head, blockLogs, flaw }: IncompleteLogs, signal: AbortSignal) => {
    onRepaired(incomplete(head, flaw))
    const complete = groupByBlock([head], await readLogsFromReceipts(head, signal))?.get(head.number)
    const remaining = complete === undefined ? 'the logs belong to another block' : findFlaw(head, complete)
    if (complete === undefined || remaining !== null) {
      throw incomplete(head, `${remaining}; also in its receipts`)
    }
    // Some nodes leave the logs of the chain itself out of the receipts.
    if (!blockLogs.isMixed && blockLogs.logs.some(({ logIndex }) => logIndex >= complete.logs.length)) {
      throw incomplete(head, 'its receipts have fewer logs')
    }
    if (flaw === MISSING_IN_FILTER && complete.logs.length === blockLogs.logs.length) {
      filterFaults += 1
      if (filterFaults === FILTER_FAULTS) {
        notice("the filters (logsBloom) in this node's headers are wrong: ignoring them")
      }
    }
    return complete.logs
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

  return async (heads: readonly FullHeader[], signal: AbortSignal): Promise<FetchedLogs> => {
    const { groups, size } = await readGroups(heads, signal)
    const all = groupByBlock(heads, groups)
    if (all === null) throw invalidResponse('understand logs', 'logs of the requested blocks', '')
    const lastWithLogs = heads.findLast(({ number }) => all.get(number)?.logs.length !== 0)
    const logs = new Map<number, readonly StoredLog[]>()
    for (const head of heads) {
      const blockLogs = all.get(head.number) ?? { logs: [], isMixed: false }
      // A truncated response lacks the end of a block and all later blocks.
      const mustCheckEnd = blockLogs.logs.length === 0 || head === lastWithLogs || heads.length <= BY_HASH
      const flaw = findFlaw(head, blockLogs) ?? (mustCheckEnd ? await findFlawAtEnd(head, blockLogs, signal) : null)
      logs.set(head.number, flaw === null ? blockLogs.logs : await readFromReceipts({ head, blockLogs, flaw }, signal))
    }
    return { logs, size }
  }
}

const MISSING_IN_FILTER = 'the filter in its header has logs that are missing in the response'

const incomplete = ({ number }: FullHeader, flaw: string): IngestError =>
  new IngestError('incomplete', {
    doing: 'read all logs of a block',
    happened: flaw,
    evidence: `block ${number}`,
  })

/** Logs each message once, since it holds for block after block. */
const createNoticeOnce = (notice: (line: string) => void): ((line: string) => void) => {
  const logged = new Set<string>()
  return (line) => {
    if (!logged.has(line)) notice(line)
    logged.add(line)
  }
}
