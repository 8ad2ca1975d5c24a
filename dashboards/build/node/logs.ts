import { troublePatterns } from '../rules.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { type Placed } from '../panels/panel.ts'

/** The units that are monitored by default. */
const SERVICES = ['bft', 'execution', 'rpc', 'ledger-tail', 'otelcol', 'cruft']

/** Events, logs and resources of the services. */
export const logs: readonly Placed[] = [
  graph({
    title: 'Starts in an hour',
    about:
      'Starts of each unit that the agent saw within the hour before. More than the line is no planned restart: find out what ends it.',
    alerts: ['ChainServiceRestarting', 'ChainServiceCrashed'],
    unit: 'locale',
    decimals: 0,
    width: 8,
    min: 0,
    names: SERVICES,
    limits: limitsBy({
      alert: 'ChainServiceRestarting',
      metric: 'chain_service_starts_total',
      whole: true,
    }),
    lines: [
      {
        expr: 'round(increase(chain_service_starts_total{service!="cruft"}[1h]))',
        legend: '{{service}}',
      },
    ],
  }),
  graph({
    title: 'Ends that were not clean, in an hour',
    about:
      'By the result that systemd names. exit-code and core-dump: read the journal of the unit; oom-kill: look at the memory.',
    alerts: ['ChainServiceCrashed', 'ChainAssertion'],
    unit: 'locale',
    decimals: 0,
    width: 8,
    min: 0,
    bars: true,
    lines: [
      {
        expr: 'round(sum by (service, result) (increase(chain_service_exits_total{result!="success"}[1h]))) > 0',
        legend: '{{service}}: {{result}}',
      },
    ],
  }),
  graph({
    title: 'Lines that mean trouble, in ten minutes',
    about: 'By what they say; docs/reference/patterns.md tells what each means and what to do. Nothing to see is good.',
    alerts: ['ChainLogTrouble', 'ChainAssertion', 'ChainWalStopped', 'ChainCleanup'],
    unit: 'locale',
    decimals: 0,
    width: 8,
    min: 0,
    bars: true,
    lines: [
      {
        expr: `increase(chain_log_pattern_total{pattern=~"${troublePatterns().join('|')}"}[10m]) > 0`,
        legend: '{{service}}: {{pattern}}',
      },
    ],
  }),
  graph({
    title: 'Memory of the services',
    about: 'As systemd accounts it. Growth over days ends with the out-of-memory killer.',
    alerts: ['ChainServiceCrashed'],
    unit: 'bytes',
    width: 8,
    min: 0,
    names: SERVICES,
    lines: [{ expr: 'chain_service_memory_bytes', legend: '{{service}}' }],
  }),
  graph({
    title: 'Processors of the services',
    about: 'Processors in use by each unit; 1 is one of them, wholly.',
    alerts: ['ChainExecutionSlow'],
    unit: 'suffix:CPUs',
    decimals: 2,
    width: 8,
    min: 0,
    names: SERVICES,
    lines: [
      {
        expr: 'rate(chain_service_cpu_seconds_total[$__rate_interval])',
        legend: '{{service}}',
      },
    ],
  }),
  graph({
    title: 'Warnings and errors in the logs',
    about:
      'Lines a second, by service and level. Messages that journald dropped are missing here: then a low rate proves nothing.',
    alerts: ['ChainLogTrouble', 'ChainLogsIncomplete'],
    unit: 'suffix:lines/s',
    decimals: 2,
    width: 8,
    min: 0,
    names: SERVICES.flatMap((service) => [`${service}: warning`, `${service}: error`]),
    lines: [
      {
        expr: 'rate(chain_log_lines_total[$__rate_interval])',
        legend: '{{service}}: {{level}}',
      },
    ],
  }),
]
