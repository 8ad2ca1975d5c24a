import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { whileScraped } from '../node-state.ts'
import { runningOf, RUNS_OR_IDLE } from '../overview.ts'
import { graph } from '../panels/graph.ts'
import { table } from '../panels/table.ts'
import { timeline } from '../panels/timeline.ts'

/** The services to which the alert on the limit of open files applies. */
const FILES_ALLOWED = 'chain_service_max_file_descriptors{service=~"bft|execution|rpc"}'
/** The units that are monitored by default. */
const SERVICES = ['bft', 'execution', 'rpc', 'ledger-tail', 'otelcol', 'cruft']
const EXPECTED = { 0: ['no', 'good'], 1: ['yes', 'good'] } as const

export const services: Row = {
  title: 'Services',
  panels: [
    timeline({
      title: 'Services',
      about:
        'The state of each unit, as systemd reports it; idle is one that need not run, such as the clean-up (cruft) between its runs. systemd does not restart consensus and execution.',
      alerts: ['ChainServiceDown', 'ChainServiceDown.missing'],
      width: 10,
      height: 8,
      words: RUNS_OR_IDLE,
      lines: [{ expr: runningOf(), legend: '{{service}}' }],
    }),
    table({
      title: 'Units',
      about:
        'Each unit: its state, whether it should run, the time of its start, the exit status of its last process, and the restarts by systemd within a day. not-found: it is not installed, or the agent has a wrong name. An exit status other than 0: read its journal.',
      alerts: ['ChainServiceDown', 'ChainServiceDown.missing', 'ChainServiceCrashed.restarts', 'ChainPartialRestart'],
      width: 14,
      height: 8,
      keys: { service: 'Service', state: 'State' },
      columns: [
        {
          title: 'Should run',
          expr: 'max by (service, state) (chain_service_state == 1) * on (service) group_left () max by (service) (chain_service_expected)',
          unit: 'none',
          words: EXPECTED,
        },
        ...(
          [
            {
              title: 'Started',
              expr: '1000 * chain_service_start_timestamp_seconds',
              unit: 'dateTimeFromNow',
              width: 120,
            },
            { title: 'Exit status', expr: 'chain_service_last_exit_status', unit: 'locale' },
            {
              title: 'Restarts, 24 h',
              expr: `round(${whileScraped('increase(chain_service_restarts_total[24h])')})`,
              unit: 'locale',
            },
            { title: 'Tasks', expr: 'chain_service_tasks', unit: 'locale' },
            {
              title: 'Open files',
              expr: 'chain_service_open_file_descriptors / chain_service_max_file_descriptors',
              unit: 'percentunit',
              decimals: 1,
              limits: limitsBy('ChainHostSetUp.open-files', 'chain_service_max_file_descriptors'),
            },
            {
              title: 'Files allowed',
              expr: FILES_ALLOWED,
              unit: 'locale',
              limits: limitsBy('ChainHostSetUp.open-file-limit', FILES_ALLOWED),
            },
          ] as const
        ).map((column) => ({
          ...column,
          empty: '',
          expr: `0 * max by (service, state) (chain_service_state == 1) + on (service) group_left () max by (service) (${column.expr})`,
        })),
      ],
    }),
    graph({
      title: 'Starts in an hour',
      about:
        'Starts of each unit that the agent saw within the hour before. More than the line is no planned restart: see the exits on the dashboard of the node.',
      alerts: ['ChainServiceCrashed.restarts', 'ChainServiceCrashed'],
      unit: 'locale',
      decimals: 0,
      width: 6,
      min: 0,
      names: SERVICES,
      limits: limitsBy('ChainServiceCrashed.restarts', 'chain_service_starts_total', { whole: true }),
      lines: [
        { expr: 'round(increase(chain_service_starts_total{service!="cruft"}[1h]))', legend: '{{service}}' },
      ],
    }),
    graph({
      title: 'Memory of the services',
      about:
        'As systemd accounts it, and the resident memory as execution logs it. Growth over days ends with an out-of-memory kill.',
      alerts: ['ChainServiceCrashed', 'ChainMemoryLow.oom-kill'],
      unit: 'bytes',
      width: 6,
      min: 0,
      names: SERVICES,
      lines: [
        { expr: 'chain_service_memory_bytes', legend: '{{service}}' },
        { expr: 'chain_execution_memory_bytes', legend: 'execution, by its log' },
      ],
    }),
    graph({
      title: 'CPUs of the services',
      about: 'CPUs in use by each unit; 1 is one of them all the time.',
      alerts: ['ChainExecutionSlow'],
      unit: 'suffix:CPUs',
      decimals: 2,
      width: 6,
      min: 0,
      names: SERVICES,
      lines: [
        { expr: 'rate(chain_service_cpu_seconds_total[$__rate_interval])', legend: '{{service}}' },
      ],
    }),
    graph({
      title: 'Warnings and errors in the logs',
      about:
        'Lines a second, by service and level. Messages that journald dropped are missing here: then a low rate proves nothing.',
      alerts: ['ChainLogTrouble', 'ChainLogsIncomplete'],
      unit: 'suffix:lines/s',
      decimals: 2,
      width: 6,
      min: 0,
      names: SERVICES.flatMap((service) => [`${service}: warning`, `${service}: error`]),
      lines: [
        { expr: 'rate(chain_log_lines_total[$__rate_interval])', legend: '{{service}}: {{level}}' },
      ],
    }),
  ],
}
