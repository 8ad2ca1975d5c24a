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

export interface Wanted {
  readonly address?: readonly string[] | undefined
  readonly topics?: readonly (readonly string[])[] | undefined
}

/** The naive filter: what a query must bring. Addresses and topics in lower case. */
export const matches = ({ address = [], topics = [] }: Wanted, log: ServedLog): boolean =>
  (address.length === 0 || address.includes(log.address.toLowerCase())) &&
  topics.every(
    (alternatives, position) =>
      alternatives.length === 0 ||
      alternatives.some((topic) => topic === log.topics[position]?.toLowerCase()),
  )

const inOrder = (logs: readonly ServedLog[]): readonly ServedLog[] =>
  logs.toSorted((one, other) => one.block - other.block || one.index - other.index)
