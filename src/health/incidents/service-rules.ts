import { figure } from '../../core/format.ts'
import { hour, minute } from '../../core/units.ts'
import { type JournalRule, matchIf, type Severity, times, windowOf } from './rule.ts'

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
