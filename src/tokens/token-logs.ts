import { type Page, type RawLog } from '../query/client/types.ts'
import { invalidPage } from './errors.ts'
import { type EventName } from './signatures.ts'
import { type StatCounter } from './stats.ts'

/** A log of the contract, after checks. */
export interface TokenLog {
  readonly block: number
  readonly index: number
  readonly event: EventName
  /** Without topic0 and absent topics; 64 digits each, lower case, without 0x. */
  readonly topics: readonly string[]
  /** Hex digits, lower case, without 0x. */
  readonly data: string
}

/** Selects the logs of one ledger in a page. */
export interface LogFilter {
  /** Lower case. */
  readonly contract: string
  /** By topic0. */
  readonly events: ReadonlyMap<string, EventName>
  /** Blocks below this one were in earlier pages. */
  readonly through: number
}

/** The selected logs of a page, each once, by block and index. Counts the others. Throws QueryError('protocol'). */
export const tokenLogs = (page: Page, filter: LogFilter, stats: StatCounter): readonly TokenLog[] => {
  const byPosition = new Map<number, Map<number, TokenLog>>()
  const logs: TokenLog[] = []
  let inOrder = true
  for (const raw of page.logs()) {
    stats.add('logs')
    checkPosition(page, raw)
    const log = readLog(raw, filter)
    if (log === undefined) stats.add('unrequested')
    else if (log.block < filter.through) {
      // A log that has been applied cannot be reversed.
      if (raw.removed) {
        throw invalidPage(`a log of block ${log.block} was removed after the block was applied`)
      }
      stats.add('duplicate')
    } else {
      const last = logs.at(-1)
      const follows = last === undefined || isBefore(last, log)
      if (inOrder && (raw.removed || !follows)) {
        inOrder = false
        for (const one of logs) addLog(byPosition, one, stats)
      }
      if (inOrder) logs.push(log)
      else if (raw.removed) {
        stats.add('removed')
        byPosition.get(log.block)?.delete(log.index)
      } else addLog(byPosition, log, stats)
    }
  }
  if (inOrder) return logs
  return [...byPosition.values()].flatMap((block) => [...block.values()]).toSorted(comparePositions)
}

const checkPosition = (page: Page, { blockNumber, logIndex }: RawLog): void => {
  if (blockNumber < page.from || blockNumber >= page.next) {
    throw invalidPage(`a log of block ${blockNumber} is in a page of the blocks ${page.from} to ${page.next - 1}`)
  }
  if (!Number.isSafeInteger(blockNumber) || !Number.isSafeInteger(logIndex) || logIndex < 0) {
    throw invalidPage(`a log has the invalid position ${logIndex} in block ${blockNumber}`)
  }
}

const TOPIC = /^0x[\da-f]{64}$/
const DATA = /^0x(?:[\da-f]{2})*$/

const readLog = (raw: RawLog, { contract, events }: LogFilter): TokenLog | undefined => {
  if (raw.address !== null && raw.address.toLowerCase() !== contract) return undefined
  const present = raw.topics.filter((topic) => topic !== null).map((topic) => topic.toLowerCase())
  const data = raw.data?.toLowerCase() ?? '0x'
  // A gap between topics means that a field was not selected, so the event is unknown.
  if (raw.topics.slice(0, present.length).includes(null) || !present.every((one) => TOPIC.test(one))) {
    throw invalidPage('the topics of a log are not hex of 32 bytes', raw.topics.join(' '))
  }
  if (!DATA.test(data)) throw invalidPage('the data of a log is not hex', data)
  const event = events.get(present[0] ?? '')
  if (event === undefined) return undefined
  return {
    block: raw.blockNumber,
    index: raw.logIndex,
    event,
    topics: present.slice(1).map((topic) => topic.slice(2)),
    data: data.slice(2),
  }
}

const comparePositions = (a: TokenLog, b: TokenLog): number => a.block - b.block || a.index - b.index

const isBefore = (a: TokenLog, b: TokenLog): boolean => comparePositions(a, b) < 0

const addLog = (byPosition: Map<number, Map<number, TokenLog>>, log: TokenLog, stats: StatCounter): void => {
  const block = byPosition.get(log.block) ?? new Map<number, TokenLog>()
  byPosition.set(log.block, block)
  const before = block.get(log.index)
  if (before === undefined) block.set(log.index, log)
  else if (isSame(before, log)) stats.add('duplicate')
  else throw invalidPage(`two different logs have the index ${log.index} in block ${log.block}`)
}

const isSame = (a: TokenLog, b: TokenLog): boolean =>
  a.event === b.event && a.data === b.data && a.topics.join() === b.topics.join()
