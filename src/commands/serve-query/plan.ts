import type { Config } from '../../config/schema.ts'
import { ConfigError } from '../../core/errors.ts'
import { figure, size } from '../../core/format.ts'
import type { Retention } from '../../query/service/ingest/retention.ts'
import type { Filter } from '../../query/store/store.ts'

/** Which logs are kept, and for how long. */
export interface StoragePlan {
  readonly scope: Filter
  readonly retention: Retention
}

/** Throws a ConfigError if nothing limits the size of the store. */
export const planOf = ({ serveQuery }: Config): StoragePlan => {
  const { contracts, topics, retentionBlocks, retentionBytes, unbounded } = serveQuery
  // Canonical form: the store compares the scope with the recorded one.
  const scope = {
    addresses: [...new Set(contracts)].toSorted(),
    topics: trimTopics(topics.map((values) => [...new Set(values)].toSorted())),
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

/** The plan as text for the log. */
export const describePlan = ({ scope, retention }: StoragePlan): string => {
  const { addresses, topics } = scope
  const contracts =
    addresses.length === 0
      ? 'all contracts'
      : addresses.length === 1
        ? `the contract ${addresses[0]}`
        : `${figure(addresses.length)} contracts`
  const withTopics = topics.length === 0 ? '' : ' with the given topics'
  if (retention === 'unbounded') return `all logs of ${contracts}${withTopics}`
  const { blocks, bytes } = retention
  const bounds = [
    ...(blocks === undefined ? [] : [`the newest ${figure(blocks)} blocks`]),
    ...(bytes === undefined ? [] : [`the newest blocks within ${size(bytes)}`]),
  ]
  return `logs of ${contracts}${withTopics}, ${bounds.join(' and ')}`
}

const UNBOUNDED = `serveQuery: the store would keep all logs of all contracts without a limit; a busy chain fills a disk in days
  what to do: limit the logs with --contract or --topic, or the blocks with --retention-blocks or --retention-bytes,
  or use --unbounded to keep everything`

const trimTopics = (topics: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  topics.slice(0, topics.findLastIndex((values) => values.length > 0) + 1)
