/** A log of the chain that the test server serves. */
export interface ServedLog {
  readonly block: number
  readonly index: number
  readonly address: string
  readonly topics: readonly (string | null)[]
  readonly data: string
  readonly removed?: boolean
}

/** A chain of blocks in memory: where each log is, and the hash that each block has on the fork of the moment. */
export const createChain = (logs: readonly ServedLog[], height: number | null) => {
  const state = { logs: inOrder(logs), height }
  /** From which block on which fork holds, newest last. */
  const forks: number[] = []
  return {
    get height(): number | null {
      return state.height
    },
    logs: (): readonly ServedLog[] => state.logs,
    hash: (block: number): string => {
      const fork = forks.filter((from) => from <= block).length
      return `0x${fork.toString(16).padStart(8, '0')}${block.toString(16).padStart(56, '0')}`
    },
    setHeight: (block: number | null): void => {
      state.height = block
    },
    add: (more: readonly ServedLog[]): void => {
      state.logs = inOrder([...state.logs, ...more])
    },
    /** From `from` on everything is another: the hashes, and these logs in the place of those that were there. */
    reorg: (from: number, fresh: readonly ServedLog[]): void => {
      forks.push(from)
      state.logs = inOrder([...state.logs.filter(({ block }) => block < from), ...fresh])
    },
  }
}

export type ServedChain = ReturnType<typeof createChain>

interface LogFilter {
  readonly address?: readonly string[] | undefined
  readonly topics?: readonly (readonly string[])[] | undefined
}

/** The naive filter: what a query must bring. Addresses and topics in lower case. */
export const matches = ({ address = [], topics = [] }: LogFilter, log: ServedLog): boolean =>
  (address.length === 0 || address.includes(log.address.toLowerCase())) &&
  topics.every(
    (alternatives, position) =>
      alternatives.length === 0 || alternatives.some((topic) => topic === log.topics[position]?.toLowerCase()),
  )

const inOrder = (logs: readonly ServedLog[]): readonly ServedLog[] =>
  logs.toSorted((one, other) => one.block - other.block || one.index - other.index)

/** The answer to a query before it is written, to be altered at will: keys as on the wire. */
export type Answer = Record<string, unknown>

/** The dialect and the page sizes of the service. */
export interface Speech {
  /**
   * `spec`: to_block inclusive, next_block absent when done, nothing but data next to it. `hosted`: to_block exclusive,
   * next_block, archive_height and rollback_guard always there.
   */
  readonly dialect: 'spec' | 'hosted'
  /** A page ends after the block in which it reaches this many logs … */
  readonly pageLogs: number
  /** … or after so many blocks. */
  readonly pageBlocks: number
  /** How the numbers of a log are written. */
  readonly numbers: 'number' | 'hex' | 'decimal'
  /** How a topic that a log does not have is written. */
  readonly absentTopic: 'null' | 'absent' | 'empty'
  /** Blocks of one entry of `data`: 1 as the specification has it, more as the hosted service has it. */
  readonly batchBlocks: number
  /** Whether the hosted dialect has hashes. */
  readonly guard: boolean
}

interface QueryBody {
  readonly from_block: number
  readonly to_block?: number | null | undefined
  readonly logs: readonly LogFilter[]
  readonly field_selection: { readonly log: readonly string[] }
}

/** The right answer to a query. Pages are of whole blocks, and of at least one. */
export const answerOf = (chain: ServedChain, speech: Speech, query: QueryBody): Answer => {
  const height = chain.height ?? -1
  const from = query.from_block
  const last = Math.min(height, lastBlockOf(speech, query))
  const limit = Math.min(last, from + speech.pageBlocks - 1)
  const all = chain
    .logs()
    .filter((log) => log.block >= from && log.block <= limit)
    .filter((log) => query.logs.some((filter) => matches(filter, log)))
  const full = all[speech.pageLogs - 1]
  const end = full === undefined ? limit : full.block
  const data = batches(
    all.filter(({ block }) => block <= end),
    speech,
    query.field_selection.log,
  )
  const isDone = end >= last
  if (speech.dialect === 'spec') return { data, ...(!isDone && { next_block: end + 1 }) }
  return {
    data,
    archive_height: chain.height,
    next_block: Math.max(from, end + 1),
    total_execution_time: 7,
    rollback_guard: speech.guard && end >= from ? guardOf(chain, from, end) : null,
  }
}

const lastBlockOf = ({ dialect }: Speech, { to_block: to }: QueryBody): number => {
  if (to === undefined || to === null) return Number.POSITIVE_INFINITY
  return dialect === 'spec' ? to : to - 1
}

const guardOf = (chain: ServedChain, from: number, end: number): Answer => ({
  block_number: end,
  timestamp: 1_700_000_000 + end,
  hash: chain.hash(end),
  first_block_number: from,
  first_parent_hash: chain.hash(from - 1),
})

const batches = (logs: readonly ServedLog[], speech: Speech, fields: readonly string[]) => {
  const groups = grouped(logs, speech)
  return [...groups.values()].map((group) => ({
    ...(speech.dialect === 'hosted' && { blocks: [], transactions: [] }),
    logs: group.map((log) => written(log, speech, fields)),
  }))
}

const grouped = (logs: readonly ServedLog[], { batchBlocks }: Speech) => {
  const groups = new Map<number, ServedLog[]>()
  for (const log of logs) {
    const key = Math.floor(log.block / batchBlocks)
    groups.set(key, [...(groups.get(key) ?? []), log])
  }
  return groups
}

const written = (log: ServedLog, speech: Speech, fields: readonly string[]): Answer => {
  const number = (value: number): unknown => {
    if (speech.numbers === 'number') return value
    return speech.numbers === 'hex' ? `0x${value.toString(16)}` : String(value)
  }
  const all: Answer = {
    block_number: number(log.block),
    log_index: number(log.index),
    transaction_index: number(log.index),
    transaction_hash: `0x${log.block.toString(16).padStart(64, '0')}`,
    address: log.address,
    data: log.data,
    removed: log.removed ?? false,
  }
  for (const position of [0, 1, 2, 3]) {
    const topic = log.topics[position] ?? null
    if (topic !== null) all[`topic${position}`] = topic
    else if (speech.absentTopic !== 'absent') {
      all[`topic${position}`] = speech.absentTopic === 'null' ? null : ''
    }
  }
  return Object.fromEntries(Object.entries(all).filter(([key]) => fields.includes(key)))
}
