import { reasonIn } from '../../src/core/error-body.ts'
import { exceededLimit, isObject, tryJson } from '../../src/core/json.ts'
import type { ErrorFactory } from './errors.ts'
import type { BlockHash, LogObject, Page, RawLog, ScannedLogs } from './types.ts'
import { DIFFERENT_LOGS, scanPage } from './log-scan.ts'
import { logObjectsOf, PAGE_JSON, parseInteger, readEnvelope, readLog, type ShapeError } from './wire-format.ts'

/** A page with the fields that only the client needs. */
export interface CheckedPage extends Page {
  /** The number of logs. */
  readonly count: number
  readonly blockHashes: readonly BlockHash[]
  readonly hasNextBlock: boolean
  /** If archive_height is null although next_block advances: whether a log or a hash proves that the service has blocks. */
  readonly nullHeight?: 'proven' | 'unproven' | undefined
  /** Whether the end of the page is an assumption: nothing in it proves that the service has its last block. */
  readonly isInferred: boolean
}

interface BlockRange {
  readonly from: number
  /** Inclusive. */
  readonly end: number
}

/**
 * Reads one response and determines which blocks it covers. `next` equals `from` if it covers none. Throws
 * QueryError('protocol').
 */
export const readPage = (body: Buffer, { from, end }: BlockRange, queryError: ErrorFactory): CheckedPage => {
  const shapeError: ShapeError = (happened, evidence) => queryError('protocol', happened, evidence)
  const scanned = scanPage(body, shapeError)
  const { envelope, blocks, raw } = scanned
    ? { envelope: scanned.envelope, blocks: scanned.logs.blocks, raw: undefined }
    : parseLogs(body, shapeError)
  const { next: nextBlock } = envelope
  /** The lowest and the highest block of a log; Infinity and -1 without logs. */
  let lowest = Number.POSITIVE_INFINITY
  let highest = -1
  /** The number of logs after the end of the range: a service with an inclusive to_block returns one more block. */
  let beyond = 0
  for (const blockNumber of blocks) {
    lowest = Math.min(lowest, blockNumber)
    highest = Math.max(highest, blockNumber)
    if (blockNumber > end) beyond += 1
  }
  if (nextBlock !== null && nextBlock < from)
    throw shapeError('its next_block is before the requested blocks', `${nextBlock} for from_block ${from}`)
  // A service without blocks reports null; next to a next_block that advances it means that the height is unknown.
  const isNullHeight = envelope.archiveHeight === -1 && nextBlock !== null && nextBlock > from
  const archiveHeight = isNullHeight ? null : envelope.archiveHeight
  // At least the block of the highest log, because the reported height may come from another instance that is behind.
  const height = archiveHeight === null ? end : Math.max(archiveHeight, highest)
  const next = Math.max(from, Math.min(nextBlock ?? end + 1, end + 1, height + 1))
  // A service with an inclusive to_block covers one block more.
  const bound = next <= end ? next : Math.min(nextBlock ?? end + 2, end + 2)
  if (lowest < from || highest >= bound)
    throw shapeError(
      'a log is outside the blocks of its page',
      `block ${lowest < from ? lowest : highest} where blocks ${from} to ${bound - 1} were covered`,
    )
  const count = blocks.length - beyond
  const blockHashes = envelope.blockHashes.filter(({ block }) => block >= from - 1 && block < next)
  // Pages that wait for their turn are kept as bytes and as these fields only: as parsed JSON they might take twenty times as much.
  let logs: readonly RawLog[] | undefined = raw?.filter(({ blockNumber }) => blockNumber <= end)
  const logObjects = (): readonly LogObject[] => {
    const all = parsePage(body, shapeError).objects.filter((log) => !(blockOf(log) > end))
    // The scan does not check the characters of topics.
    const isFound = all.every((log) => blockOf(log) >= from && blockOf(log) < next)
    if (all.length !== count || !isFound) throw shapeError(DIFFERENT_LOGS, `${count} and ${all.length}`)
    return all
  }
  return {
    from,
    next,
    archiveHeight,
    last: lastOf(blockHashes, from, next),
    body,
    scanned: scannedWithin(scanned?.logs, beyond),
    count,
    blockHashes,
    hasNextBlock: nextBlock !== null,
    nullHeight: isNullHeight ? (highest >= 0 || envelope.blockHashes.length > 0 ? 'proven' : 'unproven') : undefined,
    isInferred: (nextBlock === null || isNullHeight) && archiveHeight === null && highest < end,
    logs: () => (logs ??= logObjects().map((log) => readLog(log, shapeError))),
    logObjects,
  }
}

/** Null unless a later page can be compared with the hash, which needs a service that reports parent hashes. */
const lastOf = (blockHashes: readonly BlockHash[], from: number, next: number): BlockHash | null => {
  const isComparable = from === 0 || blockHashes.some(({ block }) => block === from - 1)
  const last = blockHashes.findLast(({ block }) => block === next - 1 && block >= from)
  return isComparable ? (last ?? null) : null
}

/** The block of a parsed log; NaN if it has none. */
const blockOf = (log: LogObject): number => parseInteger(log['block_number']) ?? Number.NaN

/** The scanned logs without the last ones; undefined if those may be anywhere. */
const scannedWithin = (logs: ScannedLogs | undefined, beyond: number): ScannedLogs | undefined =>
  logs && (beyond === 0 ? logs : logs.isOrdered ? { ...logs, count: logs.count - beyond } : undefined)

const parsePage = (body: Buffer, shapeError: ShapeError) => {
  const response = parseResponse(body, shapeError)
  const envelope = readEnvelope(response, shapeError)
  if (!Object.hasOwn(response, 'data')) throw shapeError('the response has no data', beginningOf(body))
  return { envelope, objects: logObjectsOf(response['data'], shapeError) }
}

const parseLogs = (body: Buffer, shapeError: ShapeError) => {
  const { envelope, objects } = parsePage(body, shapeError)
  const raw = objects.map((log) => readLog(log, shapeError))
  return { envelope, raw, blocks: raw.map(({ blockNumber }) => blockNumber) }
}

const parseResponse = (body: Buffer, shapeError: ShapeError): Readonly<Record<string, unknown>> => {
  const value = tryJson(body, PAGE_JSON)
  if (isObject(value)) return value
  const beginning = beginningOf(body)
  if (value !== undefined) throw shapeError('the response is not a JSON object', beginning)
  switch (exceededLimit(body, PAGE_JSON)) {
    case 'values':
      throw shapeError('the response has more values than a page of logs can have', beginning)
    case 'depth':
      throw shapeError('the response is nested more deeply than a page of logs', beginning)
    case undefined:
      throw shapeError('the response is not JSON', reasonIn(beginning))
  }
}

/** As much of a response as an error message may need. */
const beginningOf = (body: Buffer): string => body.toString('utf8', 0, 65_536)
