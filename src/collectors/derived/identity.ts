import type { SampleIndex } from '../../core/sample-index.ts'
import { minute } from '../../core/units.ts'
import type { Slots } from './slots.ts'

/** A validator votes in every round; one that did not for so long does not sign. */
const QUIET_MS = 2 * minute

/**
 * Whether the node signs with its key: it has voted, or led a round with a block. The same key that
 * is active on two hosts is a double signature waiting to happen. Null until something could tell.
 */
export const createIdentity = () => {
  let votes: number | undefined
  let blocks: number | undefined
  let signedAt: number | undefined
  let listeningSince: number | undefined
  return (known: SampleIndex, slots: Slots | undefined, elapsed: number): boolean | null => {
    const counted = known.value('chain_native_events_total', { event: 'vote_sent' })
    const inLog = known.value('chain_consensus_window_messages', { kind: 'vote_sent' })
    const hears = counted !== undefined || inLog !== undefined
    listeningSince = hears ? (listeningSince ?? elapsed) : undefined
    const hasSigned = (inLog ?? 0) > 0 || grew(votes, counted) || grew(blocks, slots?.ownBlocks)
    votes = counted ?? votes
    blocks = slots?.ownBlocks ?? blocks
    if (hasSigned) signedAt = elapsed
    if (signedAt !== undefined && elapsed - signedAt <= QUIET_MS) return true
    return listeningSince !== undefined && elapsed - listeningSince > QUIET_MS ? false : null
  }
}

const grew = (before: number | undefined, now: number | undefined): boolean =>
  before !== undefined && now !== undefined && now > before
