import { attempt, type Collector, metadataOf } from '../../core/collector.ts'
import { withDeadline } from '../../core/clock.ts'
import { second } from '../../core/units.ts'
import { createUnknownValues, type UnknownValue } from '../../core/unknown-values.ts'
import { FULL_COMMISSION } from '../../parsers/staking.ts'
import { definition, FLAGS } from './definition.ts'
import { createStakingPoll, type StakingUses } from './poll.ts'
import { samplesOf, type StakingReading } from './reading.ts'

/** Interval while the public key is unknown: nothing is requested then. */
const KEY_INTERVAL_MS = second

/** What the chain reports about the validator of this node, and its epoch. */
export const staking = (uses: StakingUses): Collector<StakingReading> => {
  const { recorder, timing } = uses
  const unknownValues = createUnknownValues(recorder, 'staking')
  const read = createStakingPoll(uses)
  return {
    ...metadataOf(definition, timing),
    run: async (context, report) => {
      while (!context.signal.aborted) {
        const outcome = await attempt(context.clock, () => withDeadline(context, timing.timeout, read))
        if (context.signal.aborted) return
        if (outcome.ok) unknownValues.add(unknownFlags(outcome.value.validator?.flags))
        report(outcome)
        const hasKey = !outcome.ok || outcome.value.hasKey
        await context.clock.sleep(hasKey ? timing.interval : Math.min(KEY_INTERVAL_MS, timing.interval), context.signal)
      }
    },
    samples: samplesOf,
    states: (reading) => ({ ...states(reading), ...unknownValues.states() }),
  }
}

const unknownFlags = (flags = 0n): readonly UnknownValue[] =>
  flags >> BigInt(FLAGS.length) === 0n
    ? []
    : [{ list: 'flags of the validator', value: `0x${flags.toString(16)}`, expected: ['0', ...FLAGS] }]

const states = ({ hasKey, up, failure, epoch, isRegistered, validator, sets, beneficiary }: StakingReading) => ({
  'staking precompile': !hasKey ? 'not read: the public key is unknown' : up ? 'answering' : (failure ?? 'no answer'),
  ...(epoch && {
    'staking epoch': `${epoch.epoch}, ${epoch.isInDelay ? 'in the delay after its boundary block' : 'before its boundary block'}`,
    'epoch length': epoch.progress ? 'known' : 'unknown for this chain: no progress and no estimates',
  }),
  ...(isRegistered !== null && {
    validator: validator ? `id ${validator.id}, ${membershipText(validator)}` : 'the public key is not registered',
  }),
  ...(validator && {
    commission: `${Number((validator.commission.execution * 10_000n) / FULL_COMMISSION) / 100} %`,
    'validator flags':
      [
        ...FLAGS.filter((_, bit) => (validator.flags >> BigInt(bit)) & 1n),
        ...(unknownFlags(validator.flags).length === 0 ? [] : ['unknown']),
      ].join(', ') || 'none',
  }),
  ...(beneficiary && {
    beneficiary: beneficiary.isExpected ? 'as expected' : `${beneficiary.address}, not the expected one`,
  }),
  ...(epoch && { 'validator sets': sets ? 'known' : 'unknown' }),
})

const membershipText = ({ isActive, isActiveNext }: NonNullable<StakingReading['validator']>): string => {
  const now = isActive ? 'in the active set' : 'not in the active set'
  return isActiveNext === null ? now : `${now}, ${isActiveNext ? 'in the next one' : 'not in the next one'}`
}
