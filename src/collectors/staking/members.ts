import type { Clock } from '../../core/clock.ts'
import type { SetMember } from '../../domain/leader-schedule.ts'
import type { StakingEpoch } from '../../parsers/staking.ts'
import type { ValidatorSet } from '../../parsers/validators.ts'
import { NodeUnavailableError, type StakingState } from './precompile.ts'

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

interface MemberReaderOptions {
  readonly clock: Clock
  /** How long one poll may read members, in milliseconds. */
  readonly sliceFor: number
}

/**
 * Reads the keys and stakes of the set in force, and in the delay those of the next epoch: one call per member and epoch,
 * spread over several polls. Both views are frozen between two boundary blocks, so the members may be read at different
 * blocks.
 */
export const createMemberReader = ({ clock, sliceFor }: MemberReaderOptions) => {
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

  return {
    /** Returns the sets that are complete: the same array until they change. */
    read: async (state: MemberSource, epoch: StakingEpoch, signal: AbortSignal): Promise<readonly ValidatorSet[]> => {
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
    },
  }
}

const wantedIn = ({ epoch, isInDelay }: StakingEpoch): readonly WantedSet[] =>
  isInDelay
    ? [
        { epoch, view: 'snapshot' },
        { epoch: epoch + 1n, view: 'consensus' },
      ]
    : [{ epoch, view: 'consensus' }]
