import type { Clock } from '../../core/clock.ts'
import { ParseError } from '../../core/errors.ts'
import { minute } from '../../core/units.ts'
import type { SetMember } from '../../domain/leader-schedule.ts'
import type { StakingEpoch } from '../../parsers/staking.ts'
import type { ValidatorSet } from '../../parsers/validators.ts'
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

/** Members of one poll: a set of 200 takes eight polls. */
const AT_ONCE = 25
/** Between two calls: the calls of other clients wait in the same queue of the node. */
const PAUSE_MS = 250
/** Failed calls after which a set is not read any more. */
const MAX_FAILURES = 3

interface WantedSet {
  readonly epoch: bigint
  readonly view: 'consensus' | 'snapshot'
}

interface Progress extends WantedSet {
  ids: readonly bigint[] | undefined
  readonly members: SetMember[]
  failures: number
}

type MemberSource = Pick<StakingState, 'set' | 'validator'>

/**
 * Reads the keys and stakes of the set in force, and in the delay those of the next epoch: one call per member and epoch,
 * spread over several polls. Both views are frozen between two boundary blocks, so the members may be read at different
 * blocks. `sliceFor`: how long one poll may read members, in milliseconds.
 */
export const createMemberReader = (clock: Clock, sliceFor: number) => {
  let sets: readonly ValidatorSet[] = []
  let progress: Progress | undefined

  const readSlice = async (state: MemberSource, current: Progress, signal: AbortSignal): Promise<void> => {
    const end = clock.elapsed() + sliceFor
    current.ids ??= await state.set(current.view)
    for (let calls = 0; calls < AT_ONCE && clock.elapsed() < end; calls += 1) {
      const id = current.ids[current.members.length]
      if (id === undefined) return
      await clock.sleep(PAUSE_MS, signal)
      const validator = await state.validator(id)
      current.members.push({ secpKey: validator.secpKey, stake: validator[current.view].stake })
    }
  }

  /** Returns the sets that are complete: the same array until they change. */
  return async (state: MemberSource, epoch: StakingEpoch, signal: AbortSignal): Promise<readonly ValidatorSet[]> => {
    const wanted = wantedIn(epoch)
    if (sets.some((one) => !wanted.some((want) => want.epoch === one.epoch)))
      sets = sets.filter((one) => wanted.some((want) => want.epoch === one.epoch))
    const next = wanted.find((want) => !sets.some((one) => one.epoch === want.epoch))
    if (!next) return sets
    if (progress?.epoch !== next.epoch || progress.view !== next.view)
      progress = { ...next, ids: undefined, members: [], failures: 0 }
    if (progress.failures >= MAX_FAILURES) return sets
    try {
      await readSlice(state, progress, signal)
    } catch (error) {
      if (!(error instanceof NodeUnavailableError)) throw error
      progress.failures += 1
    }
    const { ids, members } = progress
    if (ids?.length === members.length) sets = [...sets, { epoch: next.epoch, members }]
    return sets
  }
}

const wantedIn = ({ epoch, isInDelay }: StakingEpoch): readonly WantedSet[] =>
  isInDelay
    ? [
        { epoch, view: 'snapshot' },
        { epoch: epoch + 1n, view: 'consensus' },
      ]
    : [{ epoch, view: 'consensus' }]

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
