import { z } from 'zod'
import { pastTime } from '../../core/bounds.ts'
import type { Clock } from '../../core/clock.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { minute, second } from '../../core/units.ts'
import type { StakingEpoch, StakingValidator } from '../../parsers/staking.ts'
import type { StakingConstants } from '../../config/staking.ts'
import type { Settings, Uses } from '../dependencies.ts'
import type { definition } from './definition.ts'
import {
  addRewards,
  baselineOf,
  type EpochRewards,
  epochRewards,
  type FinalizedBlock,
  type IdentifiedValidator,
  progressOf,
  type RewardBaseline,
  rewardBaseline,
  rewardsBetween,
} from './epoch.ts'
import { createRate } from '../../domain/rate.ts'
import { createStakingNode, NodeUnavailableError, type StakingNode, type StakingState } from './precompile.ts'
import { inTokens, NOTHING_READ, type StakingReading, validatorReading, type ValidatorSets } from './reading.ts'
import { requestTimeout } from '../shared/request.ts'
import { savedInteger } from '../shared/saved-counts.ts'

export type StakingUses = Uses<
  'rpcUrl' | 'rpcAt' | 'recorder' | 'clock' | 'ownKey' | 'ownBlock' | 'checkpoint' | 'stakingNetworks',
  Settings<typeof definition, 'validatorId' | 'withdrawals' | 'expected'>
>

/** A call that takes longer waits in the queue of the node. */
const CALL_TIMEOUT_MS = 2 * second

/** The mean time between blocks is that of the last 1,000; their timestamps are in seconds. */
const PACE = { span: 1000, least: 100, isSparse: true }

/** What survives a restart: the id of the key, and the rewards. */
const savedSchema = z.object({
  key: z.string(),
  id: savedInteger,
  baseline: rewardBaseline.nullable(),
  rewards: z.array(epochRewards).readonly(),
})
type Saved = Readonly<z.output<typeof savedSchema>>

/** Reads the staking precompile once per call. Values of a node that stops answering are kept for two intervals. */
export const createStakingPoll = (uses: StakingUses) => {
  const { rpcUrl, rpcAt, clock, ownKey, recorder, checkpoint, stakingNetworks, timing } = uses
  const { ownBlock: newestOwn, validatorId, withdrawals, expected } = uses
  const rpc = rpcAt(rpcUrl, Math.min(CALL_TIMEOUT_MS, requestTimeout(timing, 1)))
  const pace = createRate(PACE)
  const readSets = createSetReader(clock)
  const readBalance = createBalanceReader(clock)
  let saved: Saved | null | undefined
  let constants: StakingConstants | undefined
  let last: { readonly key: string; readonly at: number; readonly reading: StakingReading } | undefined

  let ownBlock: { readonly height: bigint; readonly beneficiary: StakingReading['beneficiary'] } | undefined

  /** Asks once for each own block: after a failed request the beneficiary is unknown until the next one. */
  const readBeneficiary = async (node: StakingNode, finalized: bigint): Promise<StakingReading['beneficiary']> => {
    const { height } = newestOwn
    // The ledger stream may be ahead of execution.
    const isNew = height !== null && height <= finalized && height !== ownBlock?.height
    if (expected.beneficiary !== null && isNew) {
      ownBlock = { height, beneficiary: null }
      const address = await node.beneficiary(height)
      if (address !== null)
        ownBlock = { height, beneficiary: { address, isExpected: address === expected.beneficiary } }
    }
    return ownBlock?.beneficiary ?? null
  }

  const restore = async (key: string): Promise<Saved | null> => {
    if (saved === undefined) saved = savedSchema.safeParse((await checkpoint.read()).value).data ?? null
    if (saved?.key !== key) saved = null
    return saved
  }

  const addBlock = async (node: StakingNode, block: FinalizedBlock): Promise<void> => {
    const isFirst = pace.last() === undefined && block.number > PACE.span
    for (const one of [isFirst ? await node.block(block.number - BigInt(PACE.span)) : null, block])
      if (one && one.at !== null) pace.add({ at: Number(one.number), value: one.at })
  }

  const countRewards = (now: RewardBaseline): readonly EpochRewards[] => {
    const before = saved?.baseline ?? null
    const rewards = rewardsBetween(before, now)
    recorder.count('chain_staking_reward_tokens_total', inTokens(rewards?.pool ?? 0n), { share: 'pool' })
    if (rewards?.commission !== null) {
      recorder.count('chain_staking_reward_tokens_total', inTokens(rewards?.commission ?? 0n), { share: 'commission' })
    }
    const all = before?.id === now.id ? (saved?.rewards ?? []) : []
    return before && rewards ? addRewards(all, rewards, { before, now }) : all
  }

  /** The validator of this key; null if the key is not registered. */
  const identify = async (state: StakingState, key: string): Promise<IdentifiedValidator | null> => {
    const known = validatorId === null ? saved?.id : BigInt(validatorId)
    if (known !== undefined) {
      const validator = await state.validator(known)
      if (isOf(validator, key)) return { id: known, validator }
      if (validatorId !== null) {
        throw new SourceError({
          doing: `read validator ${known}`,
          happened: 'it has another public key than this node',
          advice: 'check staking.validatorId; without it the id is found by the public key',
        })
      }
    }
    const id = await state.storedId(key)
    if (id === 0n) return null
    const validator = await state.validator(id)
    if (isOf(validator, key)) return { id, validator }
    throw new SourceError({
      doing: 'find the id of the validator',
      happened: `validator ${id}, which the node stores for the public key, has another one`,
      advice: 'set staking.validatorId',
    })
  }

  const readAll = async (key: string, signal: AbortSignal): Promise<StakingReading> => {
    const node = createStakingNode(rpc, signal)
    const newest = await node.block('finalized')
    if (!newest) throw new NodeUnavailableError('no block is finalized')
    const block = { ...newest, at: pastTime(newest.at, clock.now()) }
    if (last?.key === key && last.reading.block?.number === block.number) return last.reading
    const state = node.at(block.number)
    const epoch = await state.epoch()
    constants ??= stakingNetworks(await node.chainId())
    await addBlock(node, block)
    const progress = progressOf(epoch, block, { length: constants.length, blockTime: pace.read() })
    await restore(key)
    const found = await identify(state, key)
    const reading = {
      ...NOTHING_READ,
      hasKey: true,
      up: true,
      block,
      epoch: { ...epoch, progress },
      expectedBalance: expected.authorityBalance,
      beneficiary: await readBeneficiary(node, block.number),
    }
    if (!found) return { ...reading, isRegistered: false }
    const { id, validator } = found
    const own = await state.delegator(id, validator.authAddress)
    const times = { now: epoch.epoch, delay: constants.withdrawalDelay }
    const requests = await readWithdrawals(state, found, times)
    const current = await readSets(state, epoch, constants.setLimit)
    const baseline = baselineOf(found, epoch, block)
    saved = { key, id, baseline, rewards: countRewards(baseline) }
    await checkpoint.save(saved)
    return {
      ...reading,
      isRegistered: true,
      authority: { address: validator.authAddress, balance: await readBalance(state, validator.authAddress) },
      validator: validatorReading({ ...found, epoch, own, sets: current, constants }),
      withdrawals: requests,
      rewards: saved.rewards,
      sets: current && { ...current.size, limit: current.limit },
    }
  }

  const readWithdrawals = async (
    state: StakingState,
    { id, validator }: IdentifiedValidator,
    { now, delay }: Readonly<Record<'now' | 'delay', bigint>>,
  ): Promise<StakingReading['withdrawals']> => {
    const found: StakingReading['withdrawals'][number][] = []
    for (const request of withdrawals) {
      const { amount, epoch } = await state.withdrawal(id, validator.authAddress, request)
      if (amount > 0n) found.push({ request, amount, epoch: epoch + delay, isReady: now >= epoch + delay })
    }
    return found
  }

  return async ({ signal }: { readonly signal: AbortSignal }): Promise<StakingReading> => {
    const key = ownKey.get()
    if (key === null) return NOTHING_READ
    try {
      const reading = await readAll(key, signal)
      last = { key, at: clock.elapsed(), reading }
      return reading
    } catch (error) {
      if (!(error instanceof NodeUnavailableError)) throw error
      const isRecent = last?.key === key && clock.elapsed() - last.at <= 2 * timing.interval
      const kept = isRecent && last ? last.reading : NOTHING_READ
      return { ...kept, hasKey: true, up: false, failure: error.state, reason: error.happened }
    }
  }
}

const isOf = ({ secpKey, authAddress }: StakingValidator, key: string): boolean =>
  secpKey === key && !/^0x0+$/.test(authAddress)

/** For the execution view, and the balance of the authority. */
const REPEAT_MS = 10 * minute
/** After a rejected request, or an invalid response, the node is left alone: pages cost more than the other calls. */
const RETRY_MS = 5 * minute

/**
 * The members of the sets. The consensus and snapshot views change only with the boundary block; the execution view is
 * read every ten minutes.
 */
const createSetReader = (clock: Clock) => {
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
const createBalanceReader = (clock: Clock) => {
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
