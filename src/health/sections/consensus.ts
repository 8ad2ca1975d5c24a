import { second } from '../../core/units.ts'
import { isStarting, statesyncProgress } from '../../domain/agreement.ts'
import { blockAge, isNodeDown, progressText } from '../facts.ts'
import { count, duration, figure, share, utc } from '../../core/format.ts'
import { limitOf } from '../rules/index.ts'
import { type Fact, fact, factsFor, joined, noticeIf } from './fact.ts'
import { group, type Section, statusReport, summary, type View } from './section.ts'
import { nextOwnRound } from './staking.ts'

/** Log and status report are from before the service stopped. */
const stopped = (view: View): string => {
  const { epoch = null, round = null } = view.readings.consensus ?? {}
  const age = blockAge(view)
  const state = age === undefined ? 'stopped' : `stopped; last block ${duration(age * second)} ago`
  const last = joined([
    epoch === null ? null : `epoch ${figure(epoch)}`,
    round === null ? null : `round ${figure(round)}`,
  ])
  return last === null ? state : `${state}, in ${last}`
}

/** The values of a healthy node; every other value is a notice. */
const HEALTHY = { status: 'in-sync', mode: 'live' } as const

const KINDS = [
  ['committed_block', 'committed blocks'],
  ['round_advanced', 'rounds advanced'],
  ['round_timed_out', 'rounds timed out'],
  ['local_timeout', 'local timeouts'],
  ['vote_created', 'votes created'],
  ['proposal', 'proposals'],
  ['statesync', 'statesync messages'],
  ['blocksync', 'blocksync messages'],
  ['warning', 'warnings'],
  ['error', 'errors'],
] as const

export const consensus: Section = {
  name: 'consensus',
  groups: [
    statusReport((view) => {
      const reading = view.readings.status?.consensus
      const wordOf = (name: 'status' | 'mode') =>
        fact(name, reading?.[name], { tone: (value) => noticeIf(value !== HEALTHY[name]) })
      return [
        wordOf('status'),
        wordOf('mode'),
        ...(['epoch', 'round', 'blockNumber'] as const).map((name) => fact(name, reading?.[name], { text: figure })),
        fact('blockNumberFromExternal', reading?.externalBlockNumber, { text: figure }),
        fact('blockDifference', reading?.blockDifference, { text: figure }),
      ]
    }),
    group('consensus', 'the last 60 seconds of its log', (view) => {
      const log = view.readings.consensus
      return [
        fact(['log', 'committing'], log?.committing),
        ...(['epoch', 'round', 'block'] as const).map((name) => fact(['log', name], log?.[name], { text: figure })),
        ...KINDS.map(([kind, label]) => fact(['log', 'messages', kind], log?.messages[kind], { label })),
        fact(['log', 'networkErrors'], log?.networkErrors, { label: 'network errors, 5 min' }),
        view.time(['log', 'votedAt'], log?.votedAt, { label: 'last vote' }),
        view.time(['log', 'lastEntryAt'], log?.lastEntryAt, { label: 'newest line' }),
        ...(typeof log?.panic === 'string'
          ? [fact(['log', 'panic'], log.panic, { label: 'last panic', tone: () => 'bad' })]
          : []),
      ]
    }),
  ],
  summary: (view) => {
    const { committing = null, epoch = null, round = null } = view.readings.consensus ?? {}
    if (isNodeDown(view.known, 'bft')) return summary(stopped(view), 'bad')
    const reading = view.readings.status?.consensus
    const isBad = committing === false && isActive(view) !== true && !isStarting(view.known)
    // The last minute may have blocks, and none of the last seconds.
    const age = blockAge(view)
    const isLate = committing === true && age !== undefined && age > limitOf('ChainBlockStalled', 'warning')
    const committed = isLate ? `last block ${duration(age * second)} ago` : 'blocks committed in 60 s'
    const isStrange =
      (reading?.status ?? HEALTHY.status) !== HEALTHY.status || (reading?.mode ?? HEALTHY.mode) !== HEALTHY.mode
    // The report may be minutes old: from before a stall, or from a statesync that has ended.
    const isOld = isBad || isLate || (isStrange && committing === true)
    const readAt = view.collector('status')?.lastSuccessAt ?? null
    const reported = joined([reading?.status, reading?.mode])
    return summary(
      [
        committing === null ? null : committing ? committed : 'no block committed in 60 s',
        epoch === null ? null : `epoch ${figure(epoch)}`,
        round === null ? null : `round ${figure(round)}`,
        isOld && reported !== null && readAt !== null ? `${duration(view.at - readAt)} ago ${reported}` : reported,
      ],
      isBad ? 'bad' : isStrange || isLate ? 'notice' : undefined,
    )
  },
}

const derivedFrom = ({ known }: View) => {
  const progressedAt = known.value('chain_statesync_last_progress_timestamp_seconds')
  return {
    etaSeconds: known.value('chain_statesync_eta_seconds'),
    lastProgressAt: progressedAt === undefined ? undefined : Math.round(progressedAt * 1000),
  }
}

/** From the log or the metrics of consensus; undefined if neither was read. */
const isActive = (view: View): boolean | undefined =>
  view.readings.consensus?.statesyncActive ?? toFlag(view.known.value('chain_native_statesync_active'))

const noticeIfAny = (amount: number) => noticeIf(amount > 0)

const toFlag = (value: number | undefined): boolean | undefined => (value === undefined ? undefined : value === 1)

/** With four decimals, as in the status report. */
const percentOf = (ratio: number): number => Number((ratio * 100).toFixed(4))

export const statesync: Section = {
  name: 'statesync',
  groups: [
    statusReport((view) => {
      const { progressRatio = null, progressBlock, targetBlock } = view.readings.status?.statesync ?? {}
      return [
        fact('percentage', progressRatio === null ? null : percentOf(progressRatio), {
          text: (percentage) => share(percentage / 100),
        }),
        fact('progress', progressBlock, { text: figure }),
        fact('target', targetBlock, { text: (target) => (target === 0n ? '0 (no statesync needed)' : figure(target)) }),
      ]
    }),
    group('consensus', 'its log', (view) => [
      fact('active', isActive(view), { tone: noticeIf }),
      fact('start', view.readings.consensus?.startActive ?? toFlag(view.known.value('chain_native_start_active')), {
        label: 'consensus starts',
        tone: noticeIf,
      }),
    ]),
    group('derived', 'its progress rate', (view) => {
      const { etaSeconds, lastProgressAt } = derivedFrom(view)
      const none = isActive(view) === false ? { absent: 'none: not active' } : {}
      return [
        fact('etaSeconds', etaSeconds, { label: 'remaining', text: (seconds) => duration(seconds * 1000), ...none }),
        view.time('lastProgressAt', lastProgressAt, { label: 'last progress', ...none }),
      ]
    }),
  ],
  summary: (view) => {
    const active = isActive(view)
    if (active === undefined) return null
    if (!active)
      return isStarting(view.known) ? summary('not active: consensus starts', 'notice') : summary('not active')
    const progress = statesyncProgress(view.known)
    const { etaSeconds } = derivedFrom(view)
    return summary(
      'active' +
        (progress ? `, at ${progressText(progress)}` : '') +
        (etaSeconds === undefined ? '' : `, ${duration(etaSeconds * 1000)} remaining`),
      'notice',
    )
  },
}

/** The node's own turns are known only if its key is known. */
const ownDuties = (view: View) => {
  const { duties: reading, identity } = view.readings.derived ?? {}
  return identity && reading
}

/** The newest missed round with its class, once there is one. */
const lastMissedRound = ({ readings }: View): readonly Fact[] => {
  const { round = null, at = null, class: found, figures = [] } = readings.schedule?.missed.at(-1) ?? {}
  if (round === null || at === null) return []
  const text = `${figure(round)}, ${utc(at)}: ${found ?? 'unknown'}: ${figures.join(', ')}`
  return [fact('lastMissedRound', text, { tone: () => 'notice' })]
}

export const duties: Section = {
  name: 'duties',
  groups: [
    group('derived', 'the rounds of the last six hours that the agent has read', (view) => {
      const { duties: all, identity } = view.readings.derived ?? {}
      const own = ownDuties(view)
      const why = !all ? 'no round was read yet' : undefined
      const whyOwn = why ?? (!identity ? 'the key of this node is not known yet' : undefined)
      const { value } = factsFor(view.at, whyOwn)
      return [
        value('identityActive', identity?.isActive, { label: 'signs with its key' }),
        fact('rounds', all?.rounds, { unknownReason: why }),
        fact('timeouts', all?.timeouts, { label: 'rounds that timed out', unknownReason: why }),
        value('ownBlocks', own?.ownBlocks),
        value('ownTimeouts', own?.ownTimeouts, { tone: noticeIfAny }),
        fact('expectedSlots', own?.expected, {
          label: 'own turns expected',
          unknownReason: whyOwn ?? 'requires the share of the stake',
          text: (slots) => slots.toFixed(1),
        }),
        fact('shortfallProbability', own?.shortfallProbability, {
          label: 'probability of so few by chance',
          unknownReason: whyOwn ?? 'requires the expected turns',
          text: share,
        }),
      ]
    }),
    group('ledger', 'the ledger stream', ({ known }) => [
      fact('ownConsecutiveTimeouts', known.value('chain_ledger_own_consecutive_timeouts'), {
        label: 'missed in a row',
        tone: noticeIfAny,
      }),
    ]),
    group('schedule', 'the leader schedule', (view) => {
      const { schedule } = view.readings
      const { value } = factsFor(view.at, schedule?.problem ?? undefined)
      return [
        value('scheduleProved', schedule?.isProved, { label: 'schedule is proved' }),
        nextOwnRound(view),
        value('ownNextHour', schedule?.nextHour, { label: 'own rounds in an hour' }),
        ...lastMissedRound(view),
      ]
    }),
    group('slo', 'the last seven days', ({ known }) => [
      fact('uptimeRatio', known.value('chain_slo_uptime_ratio', { criterion: 'fresh_block' }), {
        label: 'time with a fresh block',
        text: share,
      }),
      fact('uptimeBudgetLeft', known.value('chain_slo_budget_remaining_ratio', { criterion: 'fresh_block' }), {
        label: 'downtime budget left',
        text: share,
        tone: (left) => noticeIf(left < 0),
      }),
    ]),
    group('native', 'the metrics of consensus', ({ known }) => [
      fact('stakeRatio', known.value('chain_native_stake_ratio'), {
        label: 'share of the stake',
        text: (ratio) => (ratio === 0 ? '0.00%: not in the active set' : share(ratio)),
      }),
    ]),
    group('consensus', 'the consensus log', (view) => [
      view.time('votedAt', view.readings.consensus?.votedAt, {
        label: 'last own vote computed',
        unknownReason: 'none in the log that was read',
      }),
    ]),
  ],
  summary: (view) => {
    const own = ownDuties(view)
    const stake = view.known.value('chain_native_stake_ratio')
    const rounds = own?.rounds
    return summary(
      [
        typeof rounds !== 'number' ? null : `of the last ${count(rounds, 'round')}`,
        typeof own?.ownBlocks !== 'number' ? null : count(own.ownBlocks, 'own block'),
        typeof own?.ownTimeouts !== 'number' ? null : `${figure(own.ownTimeouts)} missed`,
        typeof own?.expected !== 'number' ? null : `${own.expected.toFixed(1)} expected`,
        stake === undefined ? null : `${share(stake)} of the stake`,
      ],
      (own?.ownTimeouts ?? 0) > 0 ? 'notice' : undefined,
    )
  },
}
