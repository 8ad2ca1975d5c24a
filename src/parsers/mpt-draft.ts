export interface StorageDevice {
  /** As the tool resolved it: `/dev/nvme0n1p1` for a link to it. Empty for a file that was deleted. */
  readonly path: string
  readonly capacityBytes: number
  readonly usedBytes: number
  /** From the printed percent, which is made of exact bytes. */
  readonly usedRatio: number
}

export type ListName = 'fast' | 'slow' | 'free'

export interface ChunkList {
  readonly chunks: number
  /** Null where the line was cut before it. */
  readonly capacityBytes: number | null
  readonly usedBytes: number | null
}

export interface Timeline {
  /** The raw word for the encoding of the state; only layout E has it. */
  readonly kind: string | null
  /** 0 for one that is empty by its words. */
  readonly historyBlocks: bigint | null
  readonly earliestBlock: bigint | null
  readonly latestBlock: bigint | null
  /** May be 0 or negative. */
  readonly autoExpireBlock: bigint | null
}

export interface IdentifiedBlock {
  readonly number: bigint
  /** 64 hex digits, no 0x; null in layout A. */
  readonly id: string | null
  /** Layout A only, of the voted block. */
  readonly round: bigint | null
}

export type TimelineName = 'primary' | 'secondary'

/** What has been understood so far. */
export interface Draft {
  readonly devices: StorageDevice[]
  readonly lists: Record<ListName, ChunkList | null>
  readonly timelines: Record<TimelineName, Timeline | null>
  readonly latest: Record<'proposed' | 'voted', IdentifiedBlock | null> &
    Record<'finalized' | 'verified', bigint | null>
  historyMaxBlocks: bigint | null
  /** The timeline that the lines of layout E are about. */
  timeline: TimelineName | null
  /** Which sentences came: a value may be unknown and its sentence there all the same. */
  readonly seen: Set<string>
}

export const emptyDraft = (): Draft => ({
  devices: [],
  lists: { fast: null, slow: null, free: null },
  timelines: { primary: null, secondary: null },
  latest: { proposed: null, voted: null, finalized: null, verified: null },
  historyMaxBlocks: null,
  timeline: null,
  seen: new Set(),
})

/** Adds to what is known of a timeline; that it was said counts, even where its value is unknown. */
export const addToTimeline = (draft: Draft, name: TimelineName, found: Partial<Timeline>): void => {
  const nothing = {
    kind: null,
    historyBlocks: null,
    earliestBlock: null,
    latestBlock: null,
    autoExpireBlock: null,
  }
  draft.timelines[name] = { ...nothing, ...draft.timelines[name], ...found }
  for (const part of Object.keys(found)) draft.seen.add(`${name} ${part}`)
}
