import type { Clock } from '../../core/clock.ts'
import { second } from '../../core/units.ts'
import type { LogField } from '../log-fields.ts'

/** So many blocks below the height may still be replaced; no reorganisation reaches further. */
export const UNSETTLED_BLOCKS = 200

/** For one request and its whole answer. */
export const DEFAULT_TIMEOUT_MS = 30 * second
/** How often a request that fails is sent again. */
export const DEFAULT_RETRIES = 8

/** What to fetch. Blocks inclusive at both ends. */
export interface LogQuery {
  /** Lower case, with 0x; empty: any. */
  readonly addresses: readonly string[]
  /** By position, alternatives inside; an empty inner list: any. */
  readonly topics: readonly (readonly string[])[]
  /** The client always adds block_number and log_index, and address where it is not one contract alone. */
  readonly fields: readonly LogField[]
  readonly fromBlock: number
  /** Null: the height at the start. */
  readonly toBlock: number | null
}

/** A log as it came, after checks of shape alone. A topic that is absent, null or "" is null; numbers may come as "0x1a" or "26". */
export interface RawLog {
  readonly blockNumber: number
  readonly logIndex: number
  readonly address: string | null
  /** Always four. */
  readonly topics: readonly (string | null)[]
  readonly data: string | null
  readonly removed: boolean
}

/** A block and its hash, as the service told them: what a later page is compared with. */
export interface BlockHash {
  readonly block: number
  readonly hash: string
}

/** A page whose coverage has been checked: every log lies in [from, next), the chain of pages has no gap, no reorg behind it. Delivered in block order. */
export interface Page {
  readonly from: number
  /** The first block that is not covered. */
  readonly next: number
  readonly archiveHeight: number | null
  /** The block before `next`, where a later page can be compared with its hash: kept in a checkpoint, it shows a reorg at the resumption. */
  readonly last?: BlockHash | null
  /** The JSON bytes, decompressed, for a scanner. */
  readonly body: Uint8Array
  /** Parsed generically, in the order that came; done once. Throws QueryError('protocol') where the shape is wrong. */
  logs(): readonly RawLog[]
}

export interface Progress {
  readonly from: number
  readonly through: number
  readonly target: number
  readonly logs: number
  readonly retries: number
  readonly waitedMs: number
}

export interface QueryStats {
  readonly pages: number
  readonly logs: number
  readonly bytes: number
  readonly requests: number
  readonly retries: number
  readonly waitedMs: number
  readonly reorgs: number
  /** Times a page was taken to follow on blocks that may be replaced, though no hash showed that it does. */
  readonly unguarded: number
}

/**
 * Takes pages in block order. A sink that refuses a page with QueryError('protocol') has taken
 * nothing of it: those blocks are fetched anew and handed over once more.
 */
export interface PageSink {
  page(page: Page): Promise<void> | void
  /** A reorg went deeper than what was held back: everything before is void, and the query begins again at `fromBlock`. */
  reset(): Promise<void> | void
}

/** Not complete only where the signal ended it; every other end before the target is thrown. */
export interface RunResult {
  readonly complete: boolean
  readonly from: number
  readonly through: number
  /** Where it ends: what was asked for, or less where the service has no more. */
  readonly target: number
  /** As in the query. */
  readonly asked: number | null
  readonly stats: QueryStats
}

export interface RunOptions {
  readonly signal: AbortSignal
  /** The first block that is still wanted, where an earlier run ended. */
  readonly from?: number | undefined
  /** What the last page before `from` said of its last block. */
  readonly after?: BlockHash | null | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Requests at a time below the head; 4 by default, 8 at most. */
  readonly concurrency?: number | undefined
}

export interface QueryClient {
  /** Takes the key out of what the service sent, before an error shows it. */
  redact(text: string): string
  height(signal: AbortSignal): Promise<number>
  run(query: LogQuery, sink: PageSink, options: RunOptions): Promise<RunResult>
}

/** A request that failed and is sent again after `waitMs`. */
export interface Retry {
  readonly happened: string
  readonly waitMs: number
  /** Null where the service asked for the wait: such waits do not count as attempts. */
  readonly attempt: { readonly number: number; readonly of: number } | null
}

export interface ClientOptions {
  /** Where `/query` and `/height` are. */
  readonly url: string
  /** Null: none is sent. */
  readonly apiKey: string | null
  /** The header that carries the key as it is; by default `Authorization: Bearer KEY`. */
  readonly header?: string | undefined
  readonly clock: Clock
  readonly timeoutMs?: number | undefined
  readonly retries?: number | undefined
  readonly onRetry?: ((retry: Retry) => void) | undefined
  /** Of one answer, compressed and not; 256 MiB by default. */
  readonly maxBodyBytes?: number | undefined
}
