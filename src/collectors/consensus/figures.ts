import { minute } from '../../core/units.ts'
import type { ConsensusReading } from './window.ts'

/** What the findings look at: the window, when it ended, and what the last panic said. */
export interface ConsensusFigures extends ConsensusReading {
  readonly at: number
  readonly panic: string | null
}

export const HOUR = 60 * minute

export const roundsClosed = ({ messages }: ConsensusFigures): number =>
  (messages.round_advanced ?? 0) + (messages.round_timed_out ?? 0)

/** The share of rounds that a timeout closed; null where not all of them were heard of. */
export const timeoutShare = (reading: ConsensusFigures): number | null => {
  const { round_advanced: advanced, round_timed_out: timedOut } = reading.messages
  if (!reading.isWhole || advanced === null || timedOut === null) return null
  const closed = roundsClosed(reading)
  return closed === 0 ? 0 : timedOut / closed
}
