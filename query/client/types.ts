import type { Clock } from '../../src/core/clock.ts'
import { second } from '../../src/core/units.ts'
import type { LogField } from '../log-fields.ts'

/** The number of blocks below the height that a reorg may still replace. */
export const UNSETTLED_BLOCKS = 200

/** For one request and its complete response. */
export const DEFAULT_TIMEOUT_MS = 30 * second
/** How many times a failed request is sent again. */
export const DEFAULT_RETRIES = 8

/** What to fetch. The block range is inclusive at both ends. */
export interface LogQuery {
  /** Lower case, with 0x. An empty list matches any address. */
  readonly addresses: readonly string[]
  /** One list of alternatives for each position. An empty inner list matches any topic. */
  readonly topics: readonly (readonly string[])[]
  /** The client always adds block_number and log_index, and address unless the query is for one contract. */
  readonly fields: readonly LogField[]
  readonly fromBlock: number
  /** Null: the height of the service at the start. */
  readonly toBlock: number | null
}

/** A log as the service returned it; only its shape has been checked. A topic that is absent, null or "" is null; numbers may have been "0x1a" or "26". */
export interface RawLog {
  readonly blockNumber: number
  readonly logIndex: number
  readonly address: string | null
  /** Always four elements. */
  readonly topics: readonly (string | null)[]
  readonly data: string | null
  readonly removed: boolean
}

/** A log as parsed JSON, of which nothing has been checked. */
export type LogObject = Readonly<Record<string, unknown>>

/** A block and its hash, as the service reported them; compared with later pages to detect a reorg. */
export interface BlockHash {
  readonly block: number
  readonly hash: string
}

/** Logs that were found in the bytes of a page without parsing it. */
export interface ScannedLogs {
  readonly count: number
  /** Whether the logs are ordered by block and index, each position occurs once, and no log was removed. */
  readonly isOrdered: boolean
  readonly bytes: Buffer
  readonly blocks: Float64Array
  /**
   * `step` per log: where the digits of the address, the four topics and the data begin, each 0 for null or an absent
   * field, and where those of the data end. The digits have not been checked: there may be any ASCII characters.
   */
  readonly positions: Int32Array
  readonly step: number
}

/** A page whose coverage has been checked: every log is in [from, next), and there is no gap and no reorg between it and the pages before. Delivered in block order. */
export interface Page {
  readonly from: number
  /** The first block that is not covered. */
  readonly next: number
  readonly archiveHeight: number | null
  /** The block before `next`, if a later page can be compared with its hash. Stored in a checkpoint, it reveals a reorg when the run resumes. */
  readonly last?: BlockHash | null
  /** The decompressed JSON, which may have logs after the requested blocks. */
  readonly body: Uint8Array
  /** The logs of the page in its bytes; undefined if they could not be found without a parse. */
  readonly scanned?: ScannedLogs | undefined
  /** Parses the page once, in the order of the response. Throws QueryError('protocol') if the shape is wrong. */
  logs(): readonly RawLog[]
  /** Parses the page at each call: the same logs, with all fields of the response. */
  logObjects(): readonly LogObject[]
}

export interface Progress {
  readonly from: number
  readonly through: number
  readonly target: number
  readonly logs: number
  readonly retries: number
  readonly waitedMs: number
}

/** The statistics of a run, counted while it runs. */
export const newCounters = () => ({
  pages: 0,
  logs: 0,
  bytes: 0,
  requests: 0,
  retries: 0,
  waitedMs: 0,
  reorgs: 0,
  /** Pages that follow blocks which may still be replaced, without a hash that proves that they are of the same chain. */
  unguarded: 0,
})

export type Counters = ReturnType<typeof newCounters>

/**
 * Receives pages in block order. A sink that rejects a page with QueryError('protocol') must have applied nothing of
 * it: the client fetches those blocks again and delivers them once more.
 */
export interface PageSink {
  page(page: Page): Promise<void> | void
  /** A reorg replaced blocks that have been delivered: all pages so far are invalid, and the query restarts at `fromBlock`. */
  reset(): Promise<void> | void
}

/** Incomplete only if the signal ended the run; any other end before the target is an error. */
export interface RunResult {
  readonly complete: boolean
  readonly from: number
  readonly through: number
  /** The last block of the run: `toBlock`, or less if the service does not have that block yet. */
  readonly target: number
  /** `toBlock` of the query. */
  readonly toBlock: number | null
  readonly stats: Readonly<Counters>
}

export interface RunOptions {
  readonly signal: AbortSignal
  /** The first block to fetch, when resuming an earlier run. */
  readonly from?: number | undefined
  /** `Page.last` of the page before `from`. */
  readonly after?: BlockHash | null | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

export interface QueryClient {
  /** Redacts the API key in a text from the service. */
  redact(text: string): string
  height(signal: AbortSignal): Promise<number>
  run(query: LogQuery, sink: PageSink, options: RunOptions): Promise<RunResult>
}

/** A failed request that is sent again after `waitMs`. */
export interface Retry {
  readonly happened: string
  /** What the service reported, redacted and shortened; empty if it reported nothing. */
  readonly reported: string
  readonly waitMs: number
  /** Null if the service requested the wait: such waits do not count as attempts. */
  readonly attempt: { readonly number: number; readonly of: number } | null
}

export interface ClientOptions {
  /** The address below which `/query` and `/height` are. */
  readonly url: string
  /** Null: the client sends no key. */
  readonly apiKey: string | null
  /** The header for the key, without a prefix; default `Authorization: Bearer KEY`. */
  readonly header?: string | undefined
  readonly clock: Clock
  readonly timeoutMs?: number | undefined
  readonly retries?: number | undefined
  readonly onRetry?: ((retry: Retry) => void) | undefined
  /** The largest page, compressed and decompressed; default 128 MiB. */
  readonly maxBodyBytes?: number | undefined
}
