import { blockOfHash, type RenderedLog, renderLogs } from './block.ts'
import type { Reply, View } from './rpc-methods.ts'

/** As the node's default: `toBlock` may be at most this many blocks after `fromBlock`. */
const MAX_RANGE = 1000n

interface Filter {
  readonly blockHash?: unknown
  readonly fromBlock?: unknown
  readonly toBlock?: unknown
  readonly address?: unknown
  readonly topics?: unknown
}

/** The answer to `eth_getLogs`. `numberOf` resolves a tag or a hex quantity. */
export const getLogs = (
  { chain: { seed }, latest }: View,
  given: unknown,
  numberOf: (tag: unknown) => bigint | undefined,
): Reply => {
  if (typeof given !== 'object' || given === null) return INVALID_PARAMS
  const filter: Filter = given
  const matches = readMatch(filter)
  if (!matches) return INVALID_PARAMS
  const range = readRange(filter, { seed, numberOf })
  if (!range) return INVALID_PARAMS
  const [from, to] = range
  if (from > to) return refuse('invalid block range')
  if (to - from > MAX_RANGE) return refuse('block range too large')
  const head = latest()
  const logs: RenderedLog[] = []
  for (let block = from; block <= (to < head ? to : head); block += 1n) {
    logs.push(...renderLogs(seed, block).filter(matches))
  }
  return { result: logs }
}

const refuse = (message: string): Reply => ({ error: { code: -32602, message } })
const INVALID_PARAMS = refuse('Invalid params')

interface RangeContext {
  readonly seed: number
  readonly numberOf: (tag: unknown) => bigint | undefined
}

const readRange = (
  { blockHash, fromBlock = 'latest', toBlock = 'latest' }: Filter,
  { seed, numberOf }: RangeContext,
): readonly [bigint, bigint] | undefined => {
  if (blockHash !== undefined) {
    const block = typeof blockHash === 'string' ? blockOfHash(seed, blockHash) : undefined
    return block === undefined ? undefined : [block, block]
  }
  const [from, to] = [numberOf(fromBlock), numberOf(toBlock)]
  return from === undefined || to === undefined ? undefined : [from, to]
}

type Matches = (log: RenderedLog) => boolean

/** Undefined for a filter that cannot be read. */
const readMatch = ({ address, topics = [] }: Filter): Matches | undefined => {
  const addresses = readValues(address)
  if (!addresses || !Array.isArray(topics) || topics.length > 4) return undefined
  const positions = topics.map(readValues)
  if (positions.includes(undefined)) return undefined
  return (log) =>
    isAmong(addresses, log.address) &&
    positions.every((values = [], index) => isAmong(values, log.topics[index]))
}

/** An empty list matches any value. */
const isAmong = (values: readonly string[], value: string | undefined): boolean =>
  values.length === 0 || (value !== undefined && values.includes(value))

const readValues = (given: unknown): readonly string[] | undefined => {
  if (given === undefined || given === null) return []
  const values: readonly unknown[] = Array.isArray(given) ? given : [given]
  const texts = values.filter((value) => typeof value === 'string')
  return texts.length === values.length ? texts.map((text) => text.toLowerCase()) : undefined
}
