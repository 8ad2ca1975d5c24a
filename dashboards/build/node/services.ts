import { RUNBOOK_LINK } from '../rules.ts'
import { logs } from './logs.ts'
import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { table } from '../panels/table.ts'
import { timeline } from '../panels/timeline.ts'
import { whileScraped } from '../node-state.ts'
import { fact, type ValueLabels } from '../value-labels.ts'

const RUNS_OR_IDLE: ValueLabels = {
  0: ['DOWN', 'critical'],
  1: ['runs', 'good'],
  2: ['idle', 'unknown'],
}
/** The services to which the alert on the limit of open files applies. */
const FILES_ALLOWED = 'chain_service_max_file_descriptors{service=~"bft|execution|rpc"}'
/** 2 is a unit that does not run and does not need to, such as the clean-up between its runs. */
const RUNNING =
  'chain_service_active + 2 * (1 - chain_service_active) * on (job, instance, service) (1 - chain_service_expected)'

export const services: Row = {
  title: 'Services, alerts and logs',
  panels: [
    timeline({
      title: 'Services',
      about:
        'What systemd says of each unit; idle is one that need not run, as the clean-up (cruft) between its hours. Consensus and execution are not started again by themselves.',
      alerts: ['ChainServiceDown', 'ChainServiceMissing'],
      width: 12,
      height: 8,
      words: RUNS_OR_IDLE,
      lines: [{ expr: RUNNING, legend: '{{service}}' }],
    }),
    table({
      title: 'Alerts that fire',
      about: 'What fires now for this node; a click on the alert leads to its runbook. Empty is good.',
      alerts: ['ChainWatchdog'],
      width: 12,
      height: 8,
      keys: { severity: 'Severity', alertname: 'Alert', component: 'Component' },
      onlyLabels: true,
      links: { alertname: RUNBOOK_LINK },
      widths: { severity: 110, component: 130 },
      sortBy: { title: 'Severity', descending: false },
      columns: [
        {
          title: 'Fires',
          expr: 'max by (severity, alertname, component) (ALERTS{alertstate="firing", severity!="none"})',
          unit: 'none',
        },
      ],
    }),
    table({
      title: 'Units',
      about:
        'Each unit: whether it should run, since when it does, how its last process ended, and how often systemd itself has restarted it within a day. An exit status other than 0: read its journal. The files allowed are told of the services that need many.',
      alerts: ['ChainServiceDown', 'ChainServiceRestarting', 'ChainPartialRestart'],
      width: 16,
      keys: { service: 'Service' },
      columns: [
        {
          title: 'Runs',
          expr: `max by (service) (${RUNNING})`,
          unit: 'none',
          words: RUNS_OR_IDLE,
        },
        {
          title: 'Should run',
          expr: 'max by (service) (chain_service_expected)',
          unit: 'none',
          words: fact('yes'),
        },
        {
          title: 'Started',
          expr: '1000 * max by (service) (chain_service_start_timestamp_seconds)',
          unit: 'dateTimeFromNow',
        },
        {
          title: 'Last exit status',
          expr: 'max by (service) (chain_service_last_exit_status)',
          unit: 'locale',
        },
        {
          title: 'Restarts, 24 h',
          expr: `round(max by (service) (${whileScraped('increase(chain_service_restarts_total[24h])')}))`,
          unit: 'locale',
        },
        { title: 'Tasks', expr: 'max by (service) (chain_service_tasks)', unit: 'locale' },
        {
          title: 'Open files',
          expr: 'max by (service) (chain_service_open_file_descriptors / chain_service_max_file_descriptors)',
          unit: 'percentunit',
          decimals: 1,
          limits: limitsBy({
            alert: 'ChainFileDescriptorsUsed',
            metric: 'chain_service_max_file_descriptors',
          }),
        },
        {
          title: 'Files allowed',
          expr: `max by (service) (${FILES_ALLOWED})`,
          unit: 'locale',
          limits: limitsBy({ alert: 'ChainFileDescriptorLimit', metric: FILES_ALLOWED }),
        },
      ],
    }),
    table({
      title: 'State by systemd',
      about:
        'The word of systemd for each unit. not-found: it is not installed, or the agent looks for it under a wrong name.',
      alerts: ['ChainServiceMissing'],
      width: 8,
      keys: { service: 'Service', state: 'State' },
      onlyLabels: true,
      columns: [
        {
          title: 'Is',
          expr: 'max by (service, state) (chain_service_state == 1)',
          unit: 'none',
        },
      ],
    }),
    ...logs,
  ],
}
