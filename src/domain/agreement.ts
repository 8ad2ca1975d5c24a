import type { SampleIndex } from '../core/metric.ts'

/** A height that a reference reports, and the node's own height on the same block tag at that time. */
export interface HeightView {
  readonly height: bigint
  /** Null if the node did not respond. */
  readonly own: bigint | null
}

export type Agreement = ReturnType<typeof compareWithQuorum>

/** Heights that differ by at most this number of blocks count as equal. */
export const AGREEMENT_WINDOW = 10n

/** The largest group of views within the window of each other. */
const largestGroup = <V extends Pick<HeightView, 'height'>>(views: readonly V[], window: bigint): readonly V[] => {
  const sorted = views.toSorted((a, b) => compare(a.height, b.height))
  const groups = sorted.map((lowest) =>
    sorted.filter(({ height }) => height >= lowest.height && height - lowest.height <= window),
  )
  // Of two groups of equal size the higher one: the chain only grows, and stale nodes may agree on an old height.
  return groups.reduce<readonly V[]>((largest, next) => (next.length >= largest.length ? next : largest), [])
}

const isQuorum = (agreeing: number, configured: number): boolean => agreeing > Math.floor(configured / 2)

/**
 * Combines the references. A quorum is a majority of the configured references, responding or not:
 * one responding reference of three decides nothing. Each height is compared with the node's height
 * on the same block tag; the result is the lower median of the differences, which at least half of
 * the group supports.
 */
export const compareWithQuorum = (
  views: readonly HeightView[],
  { configured, window }: { readonly configured: number; readonly window: bigint },
) => {
  const group = largestGroup(views, window)
  const behind = group.flatMap(({ height, own }) => (own === null ? [] : [height - own])).toSorted(compare)
  const median = behind[Math.floor((behind.length - 1) / 2)]
  const isKnown = isQuorum(group.length, configured) && median !== undefined
  return {
    /** The size of the largest group of heights within the window of each other. */
    agreeing: group.length,
    /** Blocks that the node is behind; null without a quorum or without a height of the node. */
    difference: isKnown ? median : null,
  }
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/** The head of the network by a majority of references; also known while the node does not respond. */
export const networkHead = (known: SampleIndex): number | undefined => {
  const views = known.series('chain_reference_block_number').map(({ value }) => ({ height: BigInt(value) }))
  const configured = known.series('chain_reference_up').length
  // A reference far from the others in either direction is not the head.
  const group = largestGroup(views, AGREEMENT_WINDOW)
  return isQuorum(group.length, configured) ? Number(group.at(-1)?.height) : undefined
}

/** The newest block of the ledger stream. */
export const ledgerBlock = (known: SampleIndex) => ({
  height: known.value('chain_ledger_seq_num', { event: 'proposed' }),
  time: known.value('chain_ledger_block_timestamp_seconds', { event: 'proposed' }),
})

/** The newest block of the RPC. */
export const rpcBlock = (known: SampleIndex) => ({
  height: known.value('chain_rpc_block_number', { tag: 'latest' }),
  time: known.value('chain_rpc_block_timestamp_seconds', { tag: 'latest' }),
})

/**
 * The block with the latest timestamp of those that the RPC and the ledger stream report: either may have stopped.
 * Height and time, in seconds since the epoch, are from one source. The recording rule of the block age uses the same
 * sources.
 */
export const newestBlock = (known: SampleIndex) =>
  [ledgerBlock(known), rpcBlock(known)]
    .flatMap(({ height, time }) => (height === undefined || time === undefined ? [] : [{ height, time }]))
    .toSorted((a, b) => b.time - a.time)[0]

/** Blocks per second that are assumed while the rate is not measured yet. */
export const USUAL_RATE = 3

/** Whether consensus was started and is not live yet, without a statesync. The recording rule uses the same sources. */
export const isStarting = (known: SampleIndex): boolean =>
  !isSyncing(known) && (known.value('chain_native_start_active') ?? known.value('chain_consensus_start_active')) === 1

/** Whether the node runs statesync, by either source. The blocksync window does not apply then. */
export const isSyncing = (known: SampleIndex): boolean =>
  known.value('chain_native_statesync_active') === 1 || known.value('chain_consensus_statesync_active') === 1

/** Values of different sources are not compared. */
export type StatesyncProgress = NonNullable<ReturnType<typeof statesyncProgress>>

/**
 * How far statesync is: from the metrics of the node, read every few seconds, else from its status report, read every few
 * minutes. Undefined if it is not running.
 */
export const statesyncProgress = (known: SampleIndex) => {
  // The metrics of consensus show its end at once; a status report may be minutes old.
  if (known.value('chain_native_statesync_active') === 0) return undefined
  for (const source of ['native', 'status'] as const) {
    const block = known.value(`chain_${source}_statesync_progress_block`)
    const target = known.value(`chain_${source}_statesync_target_block`)
    if (block === undefined || target === undefined) continue
    return block < target ? { source, block, target } : undefined
  }
  return undefined
}

/**
 * The used share of the database: from execution, which logs the share of used chunks with every block to 0.01 %, or
 * else the same share from the storage tool's report. Without its chunks, the share of bytes of the fullest device,
 * which is lower. The recording rule uses the same sources.
 */
export const databaseUsedRatio = (known: SampleIndex): number | undefined =>
  known.value('chain_execution_storage_used_ratio') ??
  usedChunksRatio(known) ??
  known
    .series('chain_storage_used_ratio')
    .map(({ value }) => value)
    .toSorted((a, b) => b - a)[0]

const usedChunksRatio = (known: SampleIndex): number | undefined => {
  const free = known.value('chain_storage_chunks', { list: 'free' })
  const all = known.series('chain_storage_chunks').reduce((sum, { value }) => sum + value, 0)
  return free === undefined || all === 0 ? undefined : 1 - free / all
}

/** The id of the chain, from the RPC, else from the status report, which has it also while the RPC is down. */
export const chainIdOf = (known: SampleIndex): string | null =>
  (['chain_rpc_info', 'chain_status_info'] as const)
    .flatMap((name) => known.series(name).map(({ labels }) => labels['chain_id'] ?? ''))
    .find((id) => id !== '') ?? null
