import { type Page, type RawLog } from '../query/client/types.ts'
import { invalidPage } from './errors.ts'
import { type EventName } from './signatures.ts'
import { type Tally } from './tally.ts'

/** A log of the contract that was asked for, once, in its place. */
export interface TokenLog {
  readonly block: number
  readonly index: number
  readonly event: EventName
  /** Those that are there, topic0 left out: 64 digits each, lower case. */
  readonly topics: readonly string[]
  /** Hex digits, lower case, two for each byte. */
  readonly data: string
}

/** What is looked for in a page. */
export interface Wanted {
  /** Lower case. */
  readonly contract: string
  readonly events: ReadonlyMap<string, EventName>
  /** Blocks below were in earlier pages. */
  readonly through: number
}

/** A page's logs of this contract, each once, by block and index; what is left out is tallied. */
export const tokenLogs = (page: Page, wanted: Wanted, tally: Tally): readonly TokenLog[] => {
  const held = new Map<number, Map<number, TokenLog>>()
  const logs: TokenLog[] = []
  let inOrder = true
  for (const raw of page.logs()) {
    tally.note('logs')
    checkPlace(page, raw)
    const log = readLog(raw, wanted)
    if (log === undefined) tally.note('unrequested')
    else if (log.block < wanted.through) {
      // To reverse it, what it said would have to be known still.
      if (raw.removed) throw invalidPage(`block ${log.block} is taken back after it was read`)
      tally.note('duplicate')
    } else {
      const last = logs.at(-1)
      const follows = last === undefined || isBefore(last, log)
      if (inOrder && (raw.removed || !follows)) {
        inOrder = false
        for (const one of logs) hold(held, one, tally)
      }
      if (inOrder) logs.push(log)
      else if (raw.removed) {
        tally.note('removed')
        held.get(log.block)?.delete(log.index)
      } else hold(held, log, tally)
    }
  }
  if (inOrder) return logs
  return [...held.values()].flatMap((block) => [...block.values()]).toSorted(byPlace)
}

const checkPlace = (page: Page, { blockNumber, logIndex }: RawLog): void => {
  if (blockNumber < page.from || blockNumber >= page.next) {
    throw invalidPage(
      `a log of block ${blockNumber} in a page of the blocks ${page.from} to ${page.next - 1}`,
    )
  }
  if (!Number.isSafeInteger(blockNumber) || !Number.isSafeInteger(logIndex) || logIndex < 0) {
    throw invalidPage(`a log ${logIndex} of block ${blockNumber}`)
  }
}

const TOPIC = /^0x[\da-f]{64}$/
const DATA = /^0x(?:[\da-f]{2})*$/

const readLog = (raw: RawLog, { contract, events }: Wanted): TokenLog | undefined => {
  if (raw.address !== null && raw.address.toLowerCase() !== contract) return undefined
  const present = raw.topics.filter((topic) => topic !== null).map((topic) => topic.toLowerCase())
  const data = raw.data?.toLowerCase() ?? '0x'
  // A gap among the topics is a field that was not selected, and nothing could be told from the others.
  if (
    raw.topics.slice(0, present.length).includes(null) ||
    !present.every((one) => TOPIC.test(one))
  ) {
    throw invalidPage('a log whose topics are not hex of 32 bytes', raw.topics.join(' '))
  }
  if (!DATA.test(data)) throw invalidPage('a log whose data is not hex', data)
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

const byPlace = (a: TokenLog, b: TokenLog): number => a.block - b.block || a.index - b.index

const isBefore = (a: TokenLog, b: TokenLog): boolean => byPlace(a, b) < 0

const hold = (held: Map<number, Map<number, TokenLog>>, log: TokenLog, tally: Tally): void => {
  const block = held.get(log.block) ?? new Map<number, TokenLog>()
  held.set(log.block, block)
  const before = block.get(log.index)
  if (before === undefined) block.set(log.index, log)
  else if (isSame(before, log)) tally.note('duplicate')
  else throw invalidPage(`two logs with one place, ${log.index} in block ${log.block}`)
}

const isSame = (a: TokenLog, b: TokenLog): boolean =>
  a.event === b.event && a.data === b.data && a.topics.join() === b.topics.join()
