import { figure, tokens, share } from '../../core/format.ts'
import type { Readings } from '../../collectors/index.ts'
import { epochEnd, epochEndText } from '../epoch-end.ts'
import { fact, type Fact, factsFor, noticeIf } from './fact.ts'
import { group, type Section, summary, type View } from './section.ts'

const VIEWS = [
  ['execution', 'now'],
  ['consensus', 'in consensus'],
  ['snapshot', 'in the snapshot'],
] as const
const FULL_COMMISSION = 10 ** 18
const FLAGS = ['stake too low', 'withdrawn', 'double sign'] as const

type Reading = NonNullable<Readings['staking']>

/** Why nothing is known of the validator, if that is not a failure of the collector. */
const whyNoValidator = (reading: Reading | undefined): string | undefined => {
  if (reading?.hasKey === false) return 'the key of this node is not known yet'
  if (reading?.up === false) return reading.reason ?? 'the node does not answer'
  return reading?.isRegistered === false ? 'the key of this node is not registered' : undefined
}

const inTokens = { text: (wei: bigint): string => `${tokens(wei)} tokens` }
const asPercent = { text: (parts: bigint): string => share(Number(parts) / FULL_COMMISSION) }

const flagsText = (flags: bigint): string =>
  FLAGS.filter((_, bit) => ((flags >> BigInt(bit)) & 1n) === 1n).join(', ') || (flags === 0n ? 'none' : 'unknown')

const epochFacts = ({ readings: { staking: reading }, at, snapshot, time }: View): readonly Fact[] => {
  const end = epochEnd(snapshot)
  const [expectedAt, latestAt, whyNoEnd] =
    'unknownBecause' in end ? [null, null, end.unknownBecause] : [end.expectedAt, end.latestAt, undefined]
  const epoch = reading?.epoch
  const progress = epoch?.progress
  const why = reading?.hasKey === false ? 'the key of this node is not known yet' : undefined
  const whyProgress = why ?? (epoch ? 'the length of an epoch of this chain is not known' : undefined)
  const { value } = factsFor(at, why)
  return [
    value('epoch', epoch?.epoch, { text: figure }),
    value('isInDelay', epoch?.isInDelay, {
      label: 'boundary block has passed',
      text: (isInDelay) => (isInDelay ? 'yes: the set of the next epoch is fixed' : 'no'),
    }),
    fact('progress', progress?.progress, { text: share, unknownReason: whyProgress }),
    fact('boundaryBlock', progress?.boundaryBlock, { text: figure, unknownReason: whyProgress }),
    time('boundaryAt', expectedAt, { label: 'epoch end, expected', unknownReason: whyNoEnd }),
    time('nextEpochAt', latestAt, { label: 'next epoch, latest', unknownReason: whyNoEnd }),
  ]
}

const validatorFacts = ({ readings: { staking: reading }, at }: View): readonly Fact[] => {
  const validator = reading?.validator
  const unknownReason = whyNoValidator(reading)
  const whyNoSet = reading?.sets ? unknownReason : (unknownReason ?? 'the sets could not be read')
  const { value } = factsFor(at, unknownReason)
  return [
    value('validatorId', validator?.id, { label: 'validator' }),
    value('isActive', validator?.isActive, { label: 'in the active set', tone: (isActive) => noticeIf(!isActive) }),
    value('isActiveNext', validator?.isActiveNext, {
      label: 'in the next set',
      tone: (isActive) => noticeIf(!isActive),
      ...(validator && { unknownReason: 'fixed by the next boundary block' }),
    }),
    value('flags', validator?.flags, { text: flagsText, tone: (flags) => noticeIf(flags !== 0n) }),
    ...VIEWS.map(([view, label]) =>
      value(['stake', view], validator?.stake[view], { label: `stake ${label}`, ...inTokens }),
    ),
    ...VIEWS.map(([view, label]) =>
      // 0 in a set of which it is no member.
      value(['commission', view], validator?.stake[view] === 0n ? null : validator?.commission[view], {
        label: `commission ${label}`,
        ...asPercent,
        ...(validator?.stake[view] === 0n && { unknownReason: 'no member of this set' }),
      }),
    ),
    value('selfStake', validator?.selfStake, { label: 'own stake', ...inTokens }),
    value(['authority', 'address'], reading?.authority?.address, { label: 'authority' }),
    value(['authority', 'balance'], reading?.authority?.balance, {
      label: 'its balance',
      ...inTokens,
      unknownReason: unknownReason ?? 'the node has not reported it',
    }),
    value(['pending', 'all'], validator?.pending.all, { label: 'change at the boundary', ...inTokens }),
    value(['unclaimed', 'own'], validator?.unclaimed.own, { label: 'own unclaimed rewards', ...inTokens }),
    value(['unclaimed', 'all'], validator?.unclaimed.all, { label: 'unclaimed in the pool', ...inTokens }),
    fact('threshold', validator?.threshold, { label: 'threshold of the set', ...inTokens, unknownReason: whyNoSet }),
    fact('margin', validator?.margin, {
      label: 'margin to the threshold',
      text: share,
      tone: (margin) => noticeIf(margin < 0),
      unknownReason: validator && validator.flags !== 0n ? 'a flag excludes the validator' : whyNoSet,
    }),
    value('rank', validator?.rank, {
      text: (rank) => `${figure(rank)} of ${reading?.sets?.consensus ?? 'unknown'}`,
      ...(validator && { unknownReason: 'no member of the set, or a flag excludes it' }),
    }),
    ...(reading?.withdrawals ?? []).map(({ request, amount, epoch, isReady }) =>
      fact(
        ['withdrawals', `${request ?? ''}`],
        { amount, epoch, isReady },
        {
          label: `withdrawal ${request ?? ''}`,
          text: () => [
            amount === null ? 'unknown' : `${tokens(amount)} tokens`,
            isReady === true ? 'ready' : epoch === null ? null : `from epoch ${figure(epoch)}`,
          ],
          tone: () => (isReady === true ? 'notice' : undefined),
        },
      ),
    ),
  ]
}

/** The next round that the node leads, by the leader schedule. */
export const nextOwnRound = ({ readings: { schedule }, at, time }: View): Fact => {
  const why = schedule?.problem ?? undefined
  // Of a stalled node the schedule begins at its newest block.
  const next = schedule?.own?.find(({ slotAt }) => slotAt !== null && slotAt >= at)
  return time('nextOwnAt', next?.slotAt, { label: 'next own round', unknownReason: why })
}

export const staking: Section = {
  name: 'staking',
  aliases: ['epoch', 'validator'],
  isOnPageOnly: true,
  groups: [
    group('staking', 'the staking precompile', (view) => [...epochFacts(view), ...validatorFacts(view)]),
    group('schedule', 'the leader schedule', (view) => [nextOwnRound(view)]),
  ],
  summary: ({ readings: { staking: reading }, at, snapshot }) => {
    const { epoch = null, validator = null, isRegistered = null } = reading ?? {}
    if (!reading || epoch === null) return null
    const progress = epoch.progress?.progress ?? null
    const end = epochEnd(snapshot)
    const stake = validator?.stake.execution ?? null
    const isOut = validator?.isActive === false || validator?.isActiveNext === false || (validator?.flags ?? 0n) !== 0n
    return summary(
      [
        'expectedAt' in end ? epochEndText(end, at) : epoch.epoch === null ? null : `epoch ${figure(epoch.epoch)}`,
        progress === null ? null : `${share(progress)} done`,
        stake === null ? null : `stake ${tokens(stake)}`,
        validator === null ? null : validator.isActive === false ? 'not in the active set' : null,
        validator?.isActiveNext === false ? 'not in the next set' : null,
        isRegistered === false ? 'no registered validator' : null,
      ],
      isOut ? 'notice' : undefined,
    )
  },
}
