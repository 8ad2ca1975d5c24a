import { figure } from '../../core/format.ts'
import { hour, minute, second } from '../../core/units.ts'
import { type JournalRule, matchIf, percent, type RuleInput, type Severity, times, windowOf } from './rule.ts'

/** A unit that runs for minutes and ends by itself: its end is not an event. */
const CLEANUP = 'cruft'
const SECONDARY = ['ledger-tail']
const NEVER = ['otelcol', ...SECONDARY, CLEANUP]

const CRASHED_WITHIN = 10 * minute
const RESTARTED_WITHIN = hour
const RESTARTS = 2
const TROUBLE_WITHIN = 10 * minute
const WAL_WITHIN = minute
const WAL_LINES = 10
const TIMELINE_WITHIN = hour

const PATTERNS = {
  ends: ['assertion', 'abort', 'panic', 'fatal', 'high_qc_too_far', 'consensus_crashed', 'parent_executor_gone'],
  critical: [
    'wal_push_failed',
    'disk_full',
    'block_failed',
    'result_mismatch',
    'event_ring',
    'io_uring',
    'virtual_offset',
    'db_old_format',
    'db_hard_reset',
  ],
  warning: [
    'slow_executor',
    'pacing_mismatch',
    'cannot_propose',
    'snapshot_advised',
    'slow_commit',
    'exception',
    'db_dirty',
  ],
  info: ['history_shortened'],
} as const

const down = (severity: Severity, isIncluded: (service: string) => boolean): JournalRule['find'] =>
  function find({ down: services }) {
    return [...services].flatMap(([service, how]) =>
      isIncluded(service)
        ? [{ subject: service, value: severity === 'critical' ? 1 : 0, says: `${service} ${how}` }]
        : [],
    )
  }

const troubleLines = (alert: string, severity: Severity, patterns: readonly string[]): JournalRule => ({
  alert,
  severity,
  figures: [...patterns, '> 0', windowOf(TROUBLE_WITHIN)],
  find: ({ counters, textOf }) =>
    counters
      .increases('chain_log_pattern_total', TROUBLE_WITHIN)
      .flatMap(({ labels: { service = '', pattern = '' }, value }) => {
        if (value <= 0 || !patterns.includes(pattern)) return []
        const text = textOf(service, pattern)
        const summary = `${service} log: ${pattern} ${times(value)}`
        const says = text === undefined ? summary : `${summary}: ${text}`
        return [{ subject: `${service} ${pattern}`, value, says }]
      }),
})

const walStopped = (severity: Severity, holds: number): JournalRule => ({
  alert: 'ChainWalStopped',
  severity,
  for: holds,
  figures: ['wal_stopped', `> ${WAL_LINES}`, windowOf(WAL_WITHIN)],
  find: ({ counters }) => {
    const count = counters.increase('chain_log_pattern_total', WAL_WITHIN, {
      pattern: 'wal_stopped',
    })
    return matchIf(
      count > WAL_LINES,
      count,
      () => `the write-ahead log is not written: ${figure(count)} lines within a minute`,
    )
  },
})

/** Rules about the units of the node and the error lines of its programs. */
export const serviceRules: readonly JournalRule[] = [
  {
    alert: 'ChainServiceDown',
    severity: 'critical',
    for: minute,
    figures: [...NEVER, '== 1'],
    find: down('critical', (service) => !NEVER.includes(service)),
  },
  {
    alert: 'ChainServiceDown',
    severity: 'warning',
    for: 5 * minute,
    figures: [...SECONDARY, CLEANUP, '== 1'],
    find: down('warning', (service) => SECONDARY.includes(service)),
  },
  {
    alert: 'ChainServiceCrashed',
    severity: 'warning',
    figures: ['result!="success"', '> 0', windowOf(CRASHED_WITHIN)],
    find: ({ counters }) =>
      counters
        .increases('chain_service_exits_total', CRASHED_WITHIN)
        .flatMap(({ labels: { service = '', result = '' }, value }) =>
          value > 0 && result !== 'success'
            ? [{ subject: service, value, says: `${service} ended ${times(value)}: ${result}` }]
            : [],
        ),
  },
  {
    alert: 'ChainServiceRestarting',
    severity: 'warning',
    figures: [CLEANUP, `> ${RESTARTS}`, windowOf(RESTARTED_WITHIN)],
    find: ({ counters }) =>
      counters
        .increases('chain_service_starts_total', RESTARTED_WITHIN)
        .flatMap(({ labels: { service = '' }, value }) =>
          value > RESTARTS && service !== CLEANUP
            ? [
                {
                  subject: service,
                  value,
                  says: `${service} was started ${value} times in an hour`,
                },
              ]
            : [],
        ),
  },
  {
    alert: 'ChainPartialRestart',
    severity: 'warning',
    figures: ['== 1'],
    find: ({ isPartialRestart }) => matchIf(isPartialRestart, 1, () => 'bft was restarted without execution'),
  },
  troubleLines('ChainAssertion', 'critical', PATTERNS.ends),
  troubleLines('ChainLogTrouble', 'critical', PATTERNS.critical),
  troubleLines('ChainLogTrouble', 'warning', PATTERNS.warning),
  troubleLines('ChainLogTrouble', 'info', PATTERNS.info),
  walStopped('warning', 0),
  walStopped('critical', 15 * minute),
  {
    alert: 'ChainTimelineMissing',
    severity: 'critical',
    figures: ['timeline_missing', '> 0', '== 0', windowOf(TIMELINE_WITHIN)],
    find: ({ counters, down: services }) => {
      const pattern = { pattern: 'timeline_missing' }
      const count = counters.increase('chain_log_pattern_total', TIMELINE_WITHIN, pattern)
      return matchIf(
        count > 0 && services.has('execution'),
        count,
        () => 'execution is down and logged that a timeline of its database is missing',
      )
    },
  },
]

const OWN_IN_A_ROW = 3
const OWN_SHARE = 0.05
const OWN_ROUNDS = 20
/** Above this share of timed-out rounds in the network, the share of a single node is not significant. */
const NETWORK_SHARE = 0.03
const NETWORK_WITHIN = 30 * minute
const VOTES_WITHIN = 2 * minute

/** Votes per round that was closed by votes, of a node that has voted before; null if the log has too little for it. */
const votesPerRound = ({ counters }: RuleInput): number | null => {
  const of = (kind: string, within: number): number =>
    counters.increase('chain_consensus_messages_total', within, { kind })
  const rounds = of('round_advanced', VOTES_WITHIN)
  if (rounds < VOTES_WITHIN / second || of('vote_sent', Infinity) === 0) return null
  return of('vote_sent', VOTES_WITHIN) / rounds
}

const notVoting = (severity: Severity, limit: number, holds: number): JournalRule => ({
  alert: 'ChainNotVoting',
  severity,
  for: holds,
  figures: [`< ${limit}`],
  find: (input) => {
    const ratio = votesPerRound(input)
    return matchIf(
      ratio !== null && ratio < limit,
      -(ratio ?? 0),
      () => `the node voted in ${percent(ratio ?? 0)} of the rounds`,
    )
  },
})

const networkTimeouts = ({ counters }: RuleInput): number => {
  const scope = { scope: 'network' }
  const blocks = counters.increase('chain_ledger_blocks_total', NETWORK_WITHIN, {
    ...scope,
    event: 'proposed',
  })
  const timeouts = counters.increase('chain_ledger_timeouts_total', NETWORK_WITHIN, scope)
  return blocks === 0 ? 0 : timeouts / blocks
}

/** Rules about the duties of a validator: leading rounds and voting. */
export const dutyRules: readonly JournalRule[] = [
  {
    alert: 'ChainLeaderTimeoutsInARow',
    severity: 'critical',
    for: 30 * second,
    figures: [`>= ${OWN_IN_A_ROW}`, `> ${NETWORK_SHARE}`],
    find: (input) => {
      const own = input.known.value('chain_ledger_own_consecutive_timeouts') ?? 0
      return matchIf(
        own >= OWN_IN_A_ROW && networkTimeouts(input) <= NETWORK_SHARE,
        own,
        () => `${own} consecutive rounds that the node led timed out`,
      )
    },
  },
  {
    alert: 'ChainLeaderTimeouts',
    severity: 'warning',
    for: 5 * minute,
    figures: [`> ${OWN_SHARE}`, `>= ${OWN_ROUNDS}`, `> ${NETWORK_SHARE}`],
    find: ({ known }) => {
      const share = known.value('chain_duty_timeout_ratio', { scope: 'own' }) ?? 0
      const network = known.value('chain_duty_timeout_ratio', { scope: 'network' }) ?? 0
      const rounds = known.series('chain_duty_slots').reduce((sum, { value }) => sum + value, 0)
      return matchIf(
        share > OWN_SHARE && rounds >= OWN_ROUNDS && network <= NETWORK_SHARE,
        share,
        () =>
          `${percent(share)} of the ${figure(rounds)} rounds that the node led timed out; ${percent(network)} of all rounds`,
      )
    },
  },
  notVoting('critical', 0.5, 2 * minute),
  notVoting('warning', 0.9, 15 * minute),
]
