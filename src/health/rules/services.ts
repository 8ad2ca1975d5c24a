import { LOG_PATTERNS } from '../../parsers/log-patterns/list.ts'
import { alertRows, hasIncreased, isNotNew, NODE_DOWN, type RuleFile, ruleFile } from './rule.ts'

/**
 * No work for today: logged again and again by a node whose database is more than 80 % full; and at the start of a
 * statesync, whose alerts tell whether it progresses.
 */
const FOR_INFORMATION = ['history_shortened', 'snapshot_advised']

/** The patterns of a severity that fire an alert, as alternatives of an expression. */
const patternsOf = (wanted: string, address = 'ChainLogTrouble'): string =>
  LOG_PATTERNS.filter(({ severity, alert = 'ChainLogTrouble' }) => severity === wanted && alert === address)
    .map(({ name }) => name)
    .filter((name) => !FOR_INFORMATION.includes(name))
    .join('|')

/** As ChainRpcDown: a validator serves no users by RPC. */
const REQUIRED = `chain_service_expected{service!~"otelcol|ledger-tail|cruft|archiver|sidecar"} == 1
  unless on (instance, job, cluster, service) (
    chain_service_expected{service="rpc"}
      and on (instance, job, cluster) (chain_node_role{role="validator"} == 1)
  )`
/** A unit that stops has not exited yet. */
const inState = (states: string): string =>
  `on (instance, job, cluster, service) (chain_service_state{state=~"${states}"} == 1)`

const SERVICE_DOWN_ADVICE = [
  'See why it stopped: `chain-agent logs SERVICE`.',
  'See whether something must be fixed first, and how to start: `chain-agent recover`.',
]

const LOG_TROUBLE = {
  alert: 'ChainLogTrouble',
  advice: ['Read the lines around it: `chain-agent logs SERVICE --since 15m`.'],
  summary: 'the log of {{ $labels.service }} contains an error: {{ $labels.pattern }}',
  description:
    'The log of {{ $labels.service }} on {{ $labels.instance }} matched {{ $labels.pattern }} within 10 minutes.',
} as const

const STOPPED = { alert: 'ChainServiceDown', keepFiringFor: '3m', advice: SERVICE_DOWN_ADVICE } as const
const REQUIRED_STOPPED = {
  ...STOPPED,
  page: 'The node does not do its work, and systemd does not restart consensus and execution.',
} as const

const DOWN = alertRows({ component: 'services' }, [
  {
    ...REQUIRED_STOPPED,
    comment:
      'F16. systemd does not restart consensus and execution (Restart=no): a unit that has failed stays down, so there is no delay. Units that the node does not depend on follow below, with the RPC of a validator, which serves no users; otelcol is the row `push`. It keeps firing for three minutes: a service that fails again and again is one problem.',
    alert: 'ChainServiceDown.failed',
    expr: `${REQUIRED}
  and ${inState('failed')}`,
    summary: '{{ $labels.service }} is down (failed)',
    description:
      'The service {{ $labels.service }} of {{ $labels.instance }} is expected and has failed. systemd does not restart consensus and execution automatically.',
  },
  {
    ...REQUIRED_STOPPED,
    comment:
      'Most services that are stopped without a failure are stopped by an operator, who starts them again: 45 seconds after the exit. A unit that systemd does not know follows below (`missing`).',
    for: '45s',
    expr: `${REQUIRED}
  and on (instance, job, cluster, service) (chain_service_active == 0)
  unless ${inState('failed|deactivating|not-found')}`,
    summary: '{{ $labels.service }} is down',
    description:
      'The service {{ $labels.service }} of {{ $labels.instance }} is expected and has not been active for 45 seconds. systemd does not restart consensus and execution automatically.',
  },
])

const { name, groups } = ruleFile({ name: 'services', component: 'services' }, [
  {
    comment:
      'The archiver of chain data is a unit of a coming release, and a sidecar is one of validators. They are monitored if `services.units` names them: the node follows the chain without them.',
    ...STOPPED,
    for: '5m',
    expr: `instance_service:chain_service:down{service=~"ledger-tail|cruft|archiver|sidecar"} == 1
or (
  instance_service:chain_service:down{service="rpc"} == 1
    and on (instance, job, cluster) (chain_node_role{role="validator"} == 1)
)`,
    summary: '{{ $labels.service }} is down',
    description:
      'The service {{ $labels.service }} of {{ $labels.instance }} is expected and has not been active for five minutes. The node itself is not affected.',
  },
  {
    comment:
      "The upgrade of a package removes a unit for seconds; after five minutes it is an error on the host or in the agent's configuration.",
    alert: 'ChainServiceDown.missing',
    page: 'The service cannot be started until its unit is installed again.',
    for: '5m',
    advice: [
      'Check that the package of the node is installed.',
      'If the names of the units have another prefix, set it: `--prefix PREFIX`.',
    ],
    expr: `chain_service_expected == 1
  and on (instance, job, cluster, service) (chain_service_state{state="not-found"} == 1)`,
    summary: 'systemd has no unit for {{ $labels.service }}',
    description:
      'systemd on {{ $labels.instance }} has no unit for the service {{ $labels.service }}, which is required. Either it is not installed, or the agent looks for it under a wrong name.',
  },
  {
    comment: 'One crash is worth a look even if an operator, or systemd, started the unit again quickly.',
    alert: 'ChainServiceCrashed',
    explainedBy: [NODE_DOWN],
    advice: ['See why: `chain-agent logs SERVICE`.'],
    expr: hasIncreased('chain_service_exits_total{result!="success"}', '10m'),
    summary: '{{ $labels.service }} exited with an error: {{ $labels.result }}',
    description:
      'The service {{ $labels.service }} of {{ $labels.instance }} ended {{ printf "%.0f" $value }} times within 10 minutes with the result {{ $labels.result }}.',
  },
  {
    comment:
      'F16. increase() extrapolates, so that two starts can read as 2.01: hence round(). The clean-up starts every hour.',
    alert: 'ChainServiceCrashed.restarts',
    limit: 2,
    advice: ['See why: `chain-agent logs SERVICE`.'],
    expr: (limit) => `round(increase(chain_service_starts_total{service!="cruft"}[1h])) > ${limit}
  and ${isNotNew('chain_service_starts_total{service!="cruft"}', '1h')}`,
    summary: 'repeated restarts of {{ $labels.service }}',
    description: (limit) =>
      `The service {{ $labels.service }} of {{ $labels.instance }} was started {{ printf "%.0f" $value }} times within one hour; more than ${limit} are not a planned restart.`,
  },
  {
    comment: 'F15. Execution has been observed to abort 20 seconds later: no delay.',
    alert: 'ChainPartialRestart',
    advice: ['Restart both together at a convenient time: `chain-agent recover`.'],
    expr: 'chain_service_partial_restart == 1',
    summary: 'consensus was restarted without execution',
    description:
      'Consensus on {{ $labels.instance }} was restarted while execution kept running. Execution may receive blocks that it has already executed, and abort.',
  },
  {
    comment: 'F15. Each of these is the last line that a program logs.',
    alert: 'ChainLogTrouble.aborted',
    page: 'The program has exited, and exits again with the next start if the cause remains.',
    advice: [
      'Read the last lines: `chain-agent logs SERVICE --since 15m`.',
      'See how to recover, and how much time is left: `chain-agent recover`.',
    ],
    expr: `rate(chain_log_pattern_total{pattern=~"${patternsOf('critical', 'ChainLogTrouble.aborted')}"}[10m]) > 0`,
    summary: '{{ $labels.service }} has aborted: {{ $labels.pattern }}',
    description:
      'The log of {{ $labels.service }} on {{ $labels.instance }} matched {{ $labels.pattern }} within 10 minutes: the program has exited.',
  },
  {
    ...LOG_TROUBLE,
    comment: 'All patterns without a separate rule, as wal_stopped, cleanup_skipped and timeline_missing have one.',
    page: 'The program has exited or is about to, and does not recover by itself.',
    expr: `rate(chain_log_pattern_total{pattern=~"${patternsOf('critical')}"}[10m]) > 0`,
  },
  { ...LOG_TROUBLE, expr: `rate(chain_log_pattern_total{pattern=~"${patternsOf('warning')}"}[10m]) > 0` },
  {
    ...LOG_TROUBLE,
    alert: 'ChainLogTrouble.others',
    causedBy: 'others',
    expr: `rate(chain_log_pattern_total{pattern=~"${patternsOf('warning', 'ChainLogTrouble.others')}"}[10m]) > 0`,
  },
  {
    ...LOG_TROUBLE,
    comment:
      'Above 80 % of use the node shortens its history repeatedly by itself: for information, not work for today.',
    severity: 'info',
    expr: `rate(chain_log_pattern_total{pattern=~"${FOR_INFORMATION.join('|')}"}[10m]) > 0`,
  },
  {
    comment:
      'F18. The node never reads this trace, so only the flood of lines does harm: about 250 a second are 21 million a day, which evict the other entries of the journal. The limit is 50 a second. Two minutes, so that at a scrape interval of a minute the range has two samples.',
    alert: 'ChainLogTrouble.wal-stopped',
    limit: 6000,
    advice: ['Find out why it stopped, usually a full disk: `chain-agent status host`.'],
    expr: (limit) => `increase(chain_log_pattern_total{pattern="wal_stopped"}[2m]) > ${limit}`,
    summary: 'consensus floods the journal: its trace of events has stopped',
    description: (limit) =>
      `The log of {{ $labels.service }} on {{ $labels.instance }} reported {{ printf "%.0f" $value }} times within two minutes, more than ${limit}, that the thread of the trace of events has stopped. The node does not need the trace.`,
  },
])

export const services: RuleFile = {
  name,
  groups: [
    {
      comment:
        'Seconds count here: peers serve the missing blocks for only about four minutes. The rules use no recording, which is evaluated up to one interval earlier.',
      name: 'chain-services-down',
      interval: '5s',
      rules: DOWN,
    },
    ...groups,
  ],
}
