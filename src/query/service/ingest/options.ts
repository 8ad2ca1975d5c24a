import { type Clock } from '../../../core/clock.ts'
import { ConfigError } from '../../../core/errors.ts'
import { minute, second } from '../../../core/units.ts'
import { type Filter, type LogStore } from '../../store/store.ts'
import { type Retention } from './retention.ts'
import { isAny } from './scope.ts'

export interface IngestOptions {
  readonly rpcUrl: string
  readonly store: LogStore
  readonly scope: Filter
  /** Of an empty store; one that has blocks goes on after its last. */
  readonly fromBlock: number
  readonly retention: Retention
  readonly clock: Clock
  /** Blocks in one request. */
  readonly maxRange?: number
  /** At the tip, how often the node is asked for what is new, in milliseconds. */
  readonly pollEvery?: number
  /** For one answer, in milliseconds. */
  readonly timeout?: number
  /** A node whose newest block is older, in milliseconds, is left alone; null: however old that is. */
  readonly behindAfter?: number | null
  /** Blocks behind the newest that are taken for final where the node does not know the tag. */
  readonly depth?: number
  /** The share of the time in which a back-fill may keep the node busy; 1: without rest. */
  readonly nodeShare?: number
  /** Words for the log: what is done in another way than usual. */
  readonly notice?: (line: string) => void
}

/** The hardest bound of a node that we know of is 25 MB; nobody needs as much as this. */
export const MAX_ANSWER = 64 * 1024 * 1024

/** With what was left out. Throws a ConfigError for what must not be begun. */
export const settled = (options: IngestOptions): Required<IngestOptions> => {
  const { fromBlock, retention, scope } = options
  const isBounded = retention !== 'unbounded' && (retention.blocks ?? retention.bytes) !== undefined
  if (retention !== 'unbounded' && !isBounded && isAny(scope)) {
    throw new ConfigError(
      'All logs of all contracts would be kept for ever, which on a busy chain is half a terabyte a day\n  what to do: keep some contracts or topics only, or say how many blocks or bytes to keep, or say that it is meant: --unbounded',
    )
  }
  if (!Number.isSafeInteger(fromBlock) || fromBlock < 0) {
    throw new ConfigError('The first block to index must be a whole number from 0 on')
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
