import { UNSETTLED_BLOCKS } from '../../query/client/types.ts'

/**
 * The service gave no hashes by which pages near the head can be seen to be of one chain: a reorganisation
 * between two of them would mix two histories.
 */
export const UNGUARDED = `Not proved: the service tells no hashes, and the last pages lie where blocks may still be replaced. Ask again in some minutes, or with --to-block ${UNSETTLED_BLOCKS} below its height.`

interface Run {
  readonly target: number
  readonly toBlock: number | null
  readonly stats: { readonly unguarded: number }
}

/** What a reader of the logs has to know of a run that came to its end. */
export const remarksOfRun = ({ target, toBlock, stats }: Run): readonly string[] => [
  ...(toBlock !== null && toBlock > target
    ? [`Through block ${target}, not ${toBlock}: the service had no more yet.`]
    : []),
  ...(stats.unguarded > 0 ? [UNGUARDED] : []),
]
