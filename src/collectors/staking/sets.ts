import type { Clock } from '../../core/clock.ts'
import { ParseError } from '../../core/errors.ts'
import { minute } from '../../core/units.ts'
import type { StakingEpoch } from '../../parsers/staking.ts'
import { NodeUnavailableError, type StakingState } from './precompile.ts'
import type { ValidatorSets } from './reading.ts'

/** For the execution view, and the balance of the authority. */
const REPEAT_MS = 10 * minute
/** After a rejected request, or an invalid response, the node is left alone: pages cost more than the other calls. */
const RETRY_MS = 5 * minute

/**
 * The members of the sets. The consensus and snapshot views change only with the boundary block; the execution view is
 * read every ten minutes.
 */
export const createSetReader = (clock: Clock) => {
  let known: { readonly of: StakingEpoch; readonly sets: ValidatorSets } | undefined
  let dueAt = -Infinity

  const readSets = async (state: StakingState, limit: number, before?: ValidatorSets): Promise<ValidatorSets> => {
    const consensus = before?.consensus ?? (await state.set('consensus'))
    const snapshot = before?.size.snapshot ?? (await state.set('snapshot')).length
    const execution = (await state.set('execution')).length
    const raised = Math.max(limit, consensus.length)
    const last = execution > raised ? consensus.at(-1) : undefined
    return {
      size: { execution, consensus: consensus.length, snapshot },
      limit: raised,
      consensus,
      weakest: last === undefined ? null : (await state.validator(last)).execution.stake,
    }
  }

  /** Null while they are unknown: they could not be read since the boundary block. */
  return async (state: StakingState, epoch: StakingEpoch, limit: number): Promise<ValidatorSets | null> => {
    const isCurrent = known?.of.epoch === epoch.epoch && known.of.isInDelay === epoch.isInDelay
    if (!isCurrent && known) {
      known = undefined
      dueAt = -Infinity
    }
    if (clock.elapsed() < dueAt) return known?.sets ?? null
    try {
      known = { of: epoch, sets: await readSets(state, limit, known?.sets) }
      dueAt = clock.elapsed() + REPEAT_MS
    } catch (error) {
      if (!(error instanceof NodeUnavailableError)) throw error
      dueAt = clock.elapsed() + RETRY_MS
    }
    return known?.sets ?? null
  }
}

/** The native balance of the authority: it changes only with its own transactions and with transfers to it. */
export const createBalanceReader = (clock: Clock) => {
  let last: { readonly authority: string; readonly balance: bigint | null; readonly dueAt: number } | undefined

  /** Null while it is unknown: the last request failed. */
  return async (state: StakingState, authority: string): Promise<bigint | null> => {
    if (last?.authority === authority && clock.elapsed() < last.dueAt) return last.balance
    try {
      const balance = await state.balance(authority)
      last = { authority, balance, dueAt: clock.elapsed() + REPEAT_MS }
    } catch (error) {
      if (!(error instanceof NodeUnavailableError || error instanceof ParseError)) throw error
      last = { authority, balance: null, dueAt: clock.elapsed() + RETRY_MS }
    }
    return last.balance
  }
}
