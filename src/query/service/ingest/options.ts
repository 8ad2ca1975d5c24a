import type { Clock } from '../../../core/clock.ts'
import { ConfigError } from '../../../core/errors.ts'
import { minute, second } from '../../../core/units.ts'
import type { Filter, LogStore, StoredLog } from '../../store/store.ts'
import type { Retention } from './retention.ts'

export interface IngestOptions {
  readonly rpcUrl: string
  readonly store: LogStore
  readonly scope: Filter
  /** First block of an empty store; a store with blocks continues after its last. */
  readonly fromBlock: number
  readonly retention: Retention
  readonly clock: Clock
  /** Largest number of blocks per request. */
  readonly maxRange?: number
  /** Interval at which the node is polled at the chain head, in milliseconds. */
  readonly pollEvery?: number
  /** Timeout of one request, in milliseconds. */
  readonly timeout?: number
  /** While the newest block of the node is older than this, in milliseconds, nothing is read; null: no limit. */
  readonly behindAfter?: number | null
  /**
   * Distance behind the newest block at which blocks count as final if the node does not support the tag `finalized`.
   */
  readonly depth?: number
  /** Largest share of time in which a backfill keeps the node busy; 1: without pauses. */
  readonly nodeShare?: number
  /** Receives log messages about fallbacks. */
  readonly notice?: (line: string) => void
}

/** In bytes. The largest response limit of a known node is 25 MB. */
export const MAX_ANSWER = 64 * 1024 * 1024

/** Fills in the defaults. Throws a ConfigError for invalid options. */
export const withDefaults = (options: IngestOptions): Required<IngestOptions> => {
  const { fromBlock, retention, scope } = options
  const isBounded = retention !== 'unbounded' && (retention.blocks ?? retention.bytes) !== undefined
  if (retention !== 'unbounded' && !isBounded && isAny(scope)) {
    throw new ConfigError(
      'The store would keep all logs of all contracts without a limit, up to half a terabyte a day on a busy chain\n  what to do: limit contracts or topics, limit blocks or bytes, or allow this with --unbounded',
    )
  }
  if (!Number.isSafeInteger(fromBlock) || fromBlock < 0) {
    throw new ConfigError('The first block to index must be a whole number from 0 up')
  }
  return {
    maxRange: 1000,
    pollEvery: second,
    timeout: 30 * second,
    behindAfter: minute,
    depth: 32,
    nodeShare: 0.5,
    notice: () => undefined,
    ...options,
  }
}

export type LogPredicate = (log: StoredLog) => boolean

/** Whether the filter matches every log. */
const isAny = ({ addresses, topics }: Filter): boolean =>
  addresses.length === 0 && topics.every((values) => values.length === 0)

/** A predicate for logs in the scope; null if the scope is everything. */
export const createScopeFilter = (scope: Filter): LogPredicate | null => {
  if (isAny(scope)) return null
  const addresses = lower(scope.addresses)
  const positions = scope.topics.map(lower)
  return ({ address, topics }) =>
    (addresses.size === 0 || addresses.has(address)) &&
    positions.every((values, at) => {
      const topic = topics[at]
      return values.size === 0 || (topic !== undefined && values.has(topic))
    })
}

const lower = (values: readonly string[]): ReadonlySet<string> => new Set(values.map((value) => value.toLowerCase()))
