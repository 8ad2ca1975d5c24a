import type { Clock } from '../../core/clock.ts'
import { minute } from '../../core/units.ts'
import { NodeUnavailableError, type StakingState } from './precompile.ts'

const INTERVAL_MS = 10 * minute
/** After a rejected request the node is left alone. */
const RETRY_MS = 5 * minute

/** The native balance of the authority: it changes only with its own transactions and with transfers to it. */
export const createBalanceReader = (clock: Clock) => {
  let balance: bigint | null = null
  let dueAt = -Infinity

  /** Null while it is unknown: the last request failed. */
  return async (state: StakingState, authority: string): Promise<bigint | null> => {
    if (clock.elapsed() < dueAt) return balance
    try {
      balance = await state.balance(authority)
      dueAt = clock.elapsed() + INTERVAL_MS
    } catch (error) {
      if (!(error instanceof NodeUnavailableError)) throw error
      balance = null
      dueAt = clock.elapsed() + RETRY_MS
    }
    return balance
  }
}
