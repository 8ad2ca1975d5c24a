import { figure } from '../../core/format.ts'
import { hour, minute } from '../../core/units.ts'
import { type AlertRow, foundIf, type Severity, times, windowOf } from './row.ts'

/** Of what runs for minutes and ends, that it ended is no news. */
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
  ends: [
    'assertion',
    'abort',
    'panic',
    'fatal',
    'high_qc_too_far',
    'consensus_crashed',
    'parent_executor_gone',
  ],
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

const down = (severity: Severity, isOurs: (service: string) => boolean): AlertRow['find'] =>
  function find({ down: services }) {
    return [...services].flatMap(([service, how]) =>
      isOurs(service)
        ? [{ subject: service, value: severity === 'critical' ? 1 : 0, says: `${service} ${how}` }]
        : [],
    )
  }

const lines = (alert: string, severity: Severity, patterns: readonly string[]): AlertRow => ({
  alert,
  severity,
  figures: [...patterns, '> 0', windowOf(TROUBLE_WITHIN)],
  find: ({ tallies, said }) =>
    tallies
      .increases('chain_log_pattern_total', TROUBLE_WITHIN)
      .flatMap(({ labels: { service = '', pattern = '' }, value }) => {
        if (value <= 0 || !patterns.includes(pattern)) return []
        const text = said(service, pattern)
        const told = `${service} log: ${pattern} ${times(value)}`
        const says = text === undefined ? told : `${told}: ${text}`
        return [{ subject: `${service} ${pattern}`, value, says }]
      }),
})

const walStopped = (severity: Severity, holds: number): AlertRow => ({
  alert: 'ChainWalStopped',
  severity,
  for: holds,
  figures: ['wal_stopped', `> ${WAL_LINES}`, windowOf(WAL_WITHIN)],
  find: ({ tallies }) => {
    const count = tallies.increase('chain_log_pattern_total', WAL_WITHIN, {
      pattern: 'wal_stopped',
    })
    return foundIf(
      count > WAL_LINES,
      count,
      () => `the write-ahead log is not written: said ${figure(count)} times within a minute`,
    )
  },
})

/** The units of the node, and what its programs write when they come to grief. */
export const serviceRows: readonly AlertRow[] = [
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
    find: ({ tallies }) =>
      tallies
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
    find: ({ tallies }) =>
      tallies
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
    find: ({ isPartialRestart }) =>
      foundIf(isPartialRestart, 1, () => 'bft was started anew, and execution beside it was not'),
  },
  lines('ChainAssertion', 'critical', PATTERNS.ends),
  lines('ChainLogTrouble', 'critical', PATTERNS.critical),
  lines('ChainLogTrouble', 'warning', PATTERNS.warning),
  lines('ChainLogTrouble', 'info', PATTERNS.info),
  walStopped('warning', 0),
  walStopped('critical', 15 * minute),
  {
    alert: 'ChainTimelineMissing',
    severity: 'critical',
    figures: ['timeline_missing', '> 0', '== 0', windowOf(TIMELINE_WITHIN)],
    find: ({ tallies, down: services }) => {
      const pattern = { pattern: 'timeline_missing' }
      const count = tallies.increase('chain_log_pattern_total', TIMELINE_WITHIN, pattern)
      return foundIf(
        count > 0 && services.has('execution'),
        count,
        () => 'execution is down, and said that a timeline of its database is missing',
      )
    },
  },
]
