import { ConfigError } from '../../core/errors.ts'
import { LOG_FIELDS } from '../log-fields.ts'
import type { LogQuery } from './types.ts'

/** The body of a request for the blocks `from` to `end`, both inclusive. */
export const createWire = (query: LogQuery): ((from: number, end: number) => string) => {
  checkQuery(query)
  const { addresses } = query
  const wanted = new Set<string>([
    ...query.fields,
    'block_number',
    'log_index',
    ...(addresses.length === 1 ? [] : ['address']),
  ])
  const named = query.topics.findLastIndex((alternatives) => alternatives.length > 0) + 1
  const filter = {
    ...(addresses.length > 0 && { address: addresses }),
    ...(named > 0 && { topics: query.topics.slice(0, named) }),
  }
  const rest = {
    logs: [filter],
    field_selection: { log: LOG_FIELDS.filter((field) => wanted.has(field)) },
  }
  // One past the end: there an exclusive service ends, and an inclusive one sends one block that is left out.
  return (from, end) => JSON.stringify({ from_block: from, to_block: end + 1, ...rest })
}

const checkQuery = ({ fromBlock, toBlock, topics }: LogQuery): void => {
  const isBlock = (block: number): boolean => Number.isSafeInteger(block + 2) && block >= 0
  const why =
    !isBlock(fromBlock) || (toBlock !== null && !isBlock(toBlock))
      ? 'a block is no whole number from 0 on'
      : toBlock !== null && toBlock < fromBlock
        ? 'it ends before it begins'
        : topics.length > 4
          ? 'a log has four topics at most'
          : undefined
  if (why !== undefined) throw new ConfigError(`The query can not be asked: ${why}`)
}
