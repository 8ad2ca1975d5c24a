import type { Config } from '../../config/schema.ts'
import { ConfigError } from '../../core/errors.ts'
import { figure, size } from '../../core/format.ts'
import type { Retention } from '../../query/service/ingest/retention.ts'
import type { Filter } from '../../query/store/store.ts'

/** What is kept, and for how long. */
export interface Plan {
  readonly scope: Filter
  readonly retention: Retention
}

/** Throws a ConfigError where nobody has said how much may be kept. */
export const planOf = ({ serveQuery }: Config): Plan => {
  const { contracts, topics, retentionBlocks, retentionBytes, unbounded } = serveQuery
  // What is the same is written the same: the store compares it with what it was made for.
  const scope = {
    addresses: [...new Set(contracts)].toSorted(),
    topics: withoutEmptyEnd(topics.map((values) => [...new Set(values)].toSorted())),
  }
  const isFiltered = scope.addresses.length > 0 || scope.topics.length > 0
  const isBounded = retentionBlocks !== null || retentionBytes !== null
  if (!isFiltered && !isBounded && !unbounded) throw new ConfigError(UNBOUNDED)
  return {
    scope,
    retention: isBounded
      ? {
          ...(retentionBlocks !== null && { blocks: retentionBlocks }),
          ...(retentionBytes !== null && { bytes: retentionBytes }),
        }
      : 'unbounded',
  }
}

/** In words, for the log. */
export const wordsOf = ({ scope, retention }: Plan): string => {
  const { addresses, topics } = scope
  const contracts =
    addresses.length === 0
      ? 'all contracts'
      : addresses.length === 1
        ? `the contract ${addresses[0]}`
        : `${figure(addresses.length)} contracts`
  const named = topics.length === 0 ? '' : ' with the topics that are named'
  if (retention === 'unbounded') return `all logs of ${contracts}${named}`
  const { blocks, bytes } = retention
  const bounds = [
    ...(blocks === undefined ? [] : [`the newest ${figure(blocks)} blocks`]),
    ...(bytes === undefined ? [] : [`what fits into ${size(bytes)}`]),
  ]
  return `logs of ${contracts}${named}, of ${bounds.join(' and of ')}`
}

const UNBOUNDED = `serveQuery: all logs of all contracts would be kept for ever; a busy chain fills a disk in days
  what to do: say what is enough, by --contract or --topic, or how much is kept, by --retention-blocks or --retention-bytes;
  with --unbounded everything is kept`

const withoutEmptyEnd = (topics: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  topics.slice(0, topics.findLastIndex((values) => values.length > 0) + 1)
