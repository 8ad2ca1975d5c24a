import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { table } from '../panels/table.ts'
import { figures, labels } from '../panels/tile.ts'
import { type ValueLabels } from '../value-labels.ts'

const PRIVATE: ValueLabels = { 0: ['loopback only', 'good'], 1: ['OPEN', 'warning'] }

export const security: Row = {
  title: 'Host: keys, ports, files, timers',
  panels: [
    table({
      title: 'Key files',
      about:
        'State of each keystore, its password and their backups. missing or invalid: nothing can be restored from it; exposed: whoever reads it may sign; unverified: there and private, and not readable for us. Age is no fault.',
      alerts: ['ChainKeyFileMissing', 'ChainKeyFileInvalid', 'ChainKeyFileExposed'],
      width: 8,
      height: 8,
      keys: { key: 'Key', kind: 'File', state: 'State' },
      onlyLabels: true,
      columns: [
        {
          title: 'Is',
          expr: 'max by (key, kind, state) (chain_key_file_state == 1)',
          unit: 'none',
        },
      ],
    }),
    table({
      title: 'Backups of keys',
      about: 'When each backup was last written, and how many older copies lie beside it.',
      alerts: ['ChainKeyFileMissing', 'ChainBlind'],
      width: 8,
      height: 8,
      keys: { key: 'Key' },
      columns: [
        {
          title: 'Written',
          expr: '1000 * max by (key) (chain_key_backup_timestamp_seconds)',
          unit: 'dateTimeFromNow',
        },
        { title: 'Copies', expr: 'max by (key) (chain_key_backup_copies)', unit: 'locale' },
      ],
    }),
    table({
      title: 'Ports that should be local',
      about:
        'Whether something listens there on more than the loopback interface. A firewall before it the agent cannot see.',
      alerts: ['ChainPortExposed'],
      width: 8,
      height: 8,
      keys: { port: 'Port' },
      columns: [
        {
          title: 'Listens on',
          expr: 'max by (port) (chain_host_port_exposed)',
          unit: 'none',
          words: PRIVATE,
        },
      ],
    }),
    table({
      title: 'Timers',
      about:
        'When each timer last fired and when it does next. The clean-up is due every hour; without it the file system fills up.',
      alerts: ['ChainCleanup'],
      width: 8,
      height: 6,
      keys: { timer: 'Timer' },
      columns: [
        {
          title: 'Fired, ago',
          expr: 'time() - max by (timer) (chain_timer_last_trigger_timestamp_seconds)',
          unit: 's',
          limits: limitsBy({
            alert: 'ChainCleanup',
            metric: 'chain_timer_last_trigger_timestamp_seconds',
          }),
        },
        {
          title: 'Fires in',
          expr: 'max by (timer) (chain_timer_next_trigger_timestamp_seconds) - time()',
          unit: 's',
        },
      ],
    }),
    table({
      title: 'Files of the configuration',
      about:
        'When each was last written. The forkpoint is written with every few blocks: an old one is where a restart would begin.',
      alerts: ['ChainForkpointStale'],
      width: 8,
      height: 6,
      keys: { file: 'File' },
      columns: [
        {
          title: 'Written, ago',
          expr: 'time() - max by (file) (chain_host_file_modified_timestamp_seconds)',
          unit: 's',
        },
      ],
    }),
    table({
      title: 'Governors of the processors',
      about:
        'Processors by frequency governor. All should run under performance: others clock up only once a block is late.',
      alerts: ['ChainGovernor'],
      width: 8,
      height: 6,
      keys: { governor: 'Governor' },
      columns: [
        {
          title: 'Processors',
          expr: 'sum by (governor) (chain_host_governor_cpus)',
          unit: 'locale',
        },
      ],
    }),
    labels({
      title: 'Kernels',
      about: 'The kernel that runs, and the one after the next reboot.',
      alerts: ['ChainKernelBlocked'],
      unit: 'none',
      width: 8,
      lines: [{ expr: 'chain_host_kernel_info', legend: '{{kernel}}: {{release}}' }],
    }),
    figures({
      title: 'Booted',
      about: 'Since the host was booted. Recent, and the node does not move: see the runbook.',
      alerts: ['ChainRebootedNotSyncing'],
      unit: 's',
      width: 4,
      lines: [{ expr: 'time() - chain_host_boot_timestamp_seconds', legend: 'ago' }],
    }),
    figures({
      title: 'Memory available',
      about: 'Memory that programs can still have.',
      alerts: ['ChainServiceCrashed'],
      unit: 'bytes',
      width: 4,
      lines: [{ expr: 'chain_host_memory_available_bytes', legend: 'available' }],
    }),
    figures({
      title: 'Clean-up by the status report',
      about: 'Since the last clean-up, and until the next one, as the node itself tells them.',
      alerts: ['ChainCleanup'],
      unit: 's',
      width: 8,
      lines: [
        { expr: 'chain_status_cleanup_previous_seconds', legend: 'since the last' },
        { expr: 'chain_status_cleanup_next_seconds', legend: 'until the next' },
      ],
    }),
  ],
}
