import type { Clock } from '../../core/clock.ts'
import { ParseError } from '../../core/errors.ts'
import { minute } from '../../core/units.ts'
import { NodeUnavailableError, type StakingState } from './precompile.ts'

const INTERVAL_MS = 10 * minute
/** After a rejected request, or an invalid response, the node is left alone. */
const RETRY_MS = 5 * minute

/** The native balance of the authority: it changes only with its own transactions and with transfers to it. */
export const createBalanceReader = (clock: Clock) => {
  let last: { readonly authority: string; readonly balance: bigint | null; readonly dueAt: number } | undefined

  /** Null while it is unknown: the last request failed. */
  return async (state: StakingState, authority: string): Promise<bigint | null> => {
    if (last?.authority === authority && clock.elapsed() < last.dueAt) return last.balance
    try {
      const balance = await state.balance(authority)
      last = { authority, balance, dueAt: clock.elapsed() + INTERVAL_MS }
    } catch (error) {
      if (!(error instanceof NodeUnavailableError || error instanceof ParseError)) throw error
      last = { authority, balance: null, dueAt: clock.elapsed() + RETRY_MS }
    }
    return last.balance
  }
}
