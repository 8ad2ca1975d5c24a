import type { Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { table } from '../panels/table.ts'
import { alarm, type TextLabels, fact } from '../value-labels.ts'
import { figures, labels } from '../panels/tile.ts'

/** A value of each drive, with its model. */
const describedDrive = (expr: string): string => `
  max by (device, model, firmware) (
    (${expr}) * on (job, instance, device) group_left (model, firmware) chain_host_nvme_info
  )`

const check = (expr: string, name: string, by = ''): string =>
  `label_replace(${expr}, "check", "${name}", "${by}", "(.*)")`

/** 1 is a fault. */
const CHECKS = [
  check('chain_host_kernel_blocked', 'kernel is known to break these nodes: $1', 'kernel'),
  check('1 - chain_host_clock_synchronized', 'clock is not synchronized'),
  check('chain_host_smt_active', 'simultaneous multithreading is active'),
  check('chain_host_port_exposed', 'port $1 listens beyond loopback', 'port'),
  check('(chain_host_hugepages == bool 0)', 'no huge pages of $1', 'size'),
  check('(0 * chain_host_governor_cpus{governor!="performance"} + 1)', 'CPU governor is $1', 'governor'),
  check('chain_service_partial_restart', 'consensus was restarted without execution'),
  check('chain_version_mismatch', 'a restart is pending: another version is installed'),
  check('chain_package_upgrade_available', 'apt offers a newer version of the node'),
  check('1 - chain_package_held{package="node"}', 'the package of the node is not on hold'),
].join(' or ')

export const fitness: Row = {
  title: 'Fitness of the host, drives and space',
  panels: [
    table({
      title: 'Host fitness',
      about:
        'Properties that break or slow down such nodes, those that apply first. Most change only with a reboot or a restart. The agent does not see a firewall in front of a port.',
      alerts: [
        'ChainHostSetUp.kernel',
        'ChainClockDrift.unsynchronised',
        'ChainHostSetUp.smt',
        'ChainPortExposed',
        'ChainHostSetUp.huge-pages',
        'ChainHostSetUp.governor',
        'ChainPartialRestart',
        'ChainUpgradeDue.restart',
      ],
      width: 8,
      height: 8,
      keys: { check: 'Check' },
      widths: { check: 340 },
      sortBy: { title: 'Applies', descending: true },
      columns: [{ title: 'Applies', expr: `max by (check) (${CHECKS})`, unit: 'none', words: alarm('YES', 'warning') }],
    }),
    table({
      title: 'Drives',
      about:
        'What each drive reports. Any bit of the critical warning: replace it. Errors that it could not correct: prepare to replace it. Its endurance lasts that long at the mean rate of its life so far.',
      alerts: ['ChainDriveFailing', 'ChainDriveFailing.errors', 'ChainDriveFailing.worn', 'ChainDriveGone'],
      width: 8,
      height: 8,
      keys: { device: 'Drive', model: 'Model', firmware: 'Firmware' },
      columns: [
        {
          title: 'Critical',
          expr: describedDrive('chain_host_nvme_critical_warning'),
          unit: 'none',
          words: { 0: ['none', 'good'] },
          limits: limitsBy('ChainDriveFailing', 'chain_host_nvme_critical_warning', { whole: true }),
        },
        {
          title: 'Errors, 24 h',
          expr: describedDrive('round(increase(chain_host_nvme_media_errors_total[24h]))'),
          unit: 'locale',
          limits: limitsBy('ChainDriveFailing.errors', 'chain_host_nvme_media_errors_total', { whole: true }),
        },
        {
          title: 'Life used',
          expr: describedDrive('chain_host_nvme_used_ratio'),
          unit: 'percentunit',
          decimals: 0,
          limits: limitsBy('ChainDriveFailing.worn', 'chain_host_nvme_used_ratio'),
        },
        { title: 'Endurance lasts', expr: describedDrive('chain_host_nvme_endurance_eta_seconds'), unit: 's' },
        {
          title: 'Written, 24 h',
          expr: describedDrive('increase(chain_host_nvme_written_bytes_total[24h])'),
          unit: 'bytes',
        },
      ],
    }),
    table({
      title: 'File systems',
      about: 'Size and free space of the file system of each directory that the node needs.',
      alerts: ['ChainDiskFull', 'ChainDiskFull.filling'],
      width: 8,
      height: 8,
      keys: { directory: 'Directory' },
      columns: [
        { title: 'Free', expr: 'max by (directory) (chain_host_filesystem_available_bytes)', unit: 'bytes' },
        { title: 'Size', expr: 'max by (directory) (chain_host_filesystem_size_bytes)', unit: 'bytes' },
        {
          title: 'Full at this rate in',
          expr: `
            max by (directory) (
              chain_host_filesystem_available_bytes
              / (deriv(chain_host_filesystem_available_bytes[6h]) * -1 > 0)
            )`,
          unit: 's',
          empty: 'not filling',
        },
      ],
    }),
  ],
}

const STATES: TextLabels = { missing: 'warning', invalid: 'critical', exposed: 'critical', unverified: 'unknown' }

export const security: Row = {
  title: 'Keys, files, timers',
  collapsed: true,
  panels: [
    table({
      title: 'Key files',
      about:
        'State of each keystore, its password and their backups. missing or invalid: it cannot be restored from; exposed: other users can read it and sign; unverified: it exists, and the agent may not read it; off_node: a backup that is recorded as kept elsewhere. Age is no fault.',
      alerts: ['ChainKeyFile.missing', 'ChainKeyFile.invalid', 'ChainKeyFile.exposed'],
      width: 12,
      height: 8,
      keys: { key: 'Key', kind: 'File', state: 'State' },
      texts: { state: STATES },
      onlyLabels: true,
      columns: [{ title: 'Is', expr: 'max by (key, kind, state) (chain_key_file_state == 1)', unit: 'none' }],
    }),
    table({
      title: 'Backups of keys',
      about: 'When each backup was last written, and the number of older copies next to it.',
      alerts: ['ChainKeyFile.missing', 'ChainBlind'],
      width: 12,
      height: 8,
      keys: { key: 'Key' },
      columns: [
        { title: 'Written', expr: '1000 * max by (key) (chain_key_backup_timestamp_seconds)', unit: 'dateTimeFromNow' },
        { title: 'Copies', expr: 'max by (key) (chain_key_backup_copies)', unit: 'locale' },
      ],
    }),
    table({
      title: 'Timers',
      about:
        'When each timer was last triggered and when it is triggered next. The clean-up is due every hour; without it the file system fills up.',
      alerts: ['ChainCleanup'],
      width: 12,
      height: 6,
      keys: { timer: 'Timer' },
      columns: [
        {
          title: 'Triggered, ago',
          expr: 'time() - max by (timer) (chain_timer_last_trigger_timestamp_seconds)',
          unit: 's',
          limits: limitsBy('ChainCleanup', 'chain_timer_last_trigger_timestamp_seconds'),
        },
        { title: 'Next in', expr: 'max by (timer) (chain_timer_next_trigger_timestamp_seconds) - time()', unit: 's' },
      ],
    }),
    table({
      title: 'Files of the configuration',
      about:
        'When each was last written. The forkpoint is written every few blocks: a restart begins at the block of the last one.',
      alerts: ['ChainStartFiles.forkpoint', 'ChainStartFiles.validators', 'ChainStartFiles.node-config'],
      width: 12,
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
  ],
}

/** The report of the node itself, which is up to five minutes old, and settings that rarely change. */
export const versions: Row = {
  title: 'Status report, uptime, migration',
  collapsed: true,
  panels: [
    figures({
      title: 'Status report',
      about:
        'The report of the node itself, read every five minutes: a second opinion, and older than everything else here. If it differs from the state of the node, see its age.',
      alerts: ['ChainCollectorDown'],
      unit: 'none',
      words: { 0: ['NO', 'warning'], 1: ['yes', 'good'] },
      width: 12,
      height: 6,
      lines: [
        { expr: 'chain_status_in_sync', legend: 'in sync' },
        { expr: 'chain_status_live', legend: 'live' },
        { expr: 'chain_status_rpc_active', legend: 'RPC active' },
        { expr: 'chain_status_cleanup_activated', legend: 'clean-up on' },
        { expr: 'chain_status_service_running', legend: '{{service}} runs' },
      ],
    }),
    labels({
      title: 'Identity in the status report',
      about:
        'Network and chain that the node reports. If the network or the chain is not the expected one, stop the node and find out why.',
      alerts: ['ChainBlind'],
      unit: 'none',
      width: 12,
      height: 6,
      lines: [
        { expr: 'chain_status_info', legend: '{{chain}}, {{network}}, {{version}}' },
        { expr: 'chain_status_state_info', legend: '{{consensus}}, {{mode}}, RPC {{rpc}}' },
      ],
    }),
    figures({
      title: 'Heights in the status report',
      about:
        'Up to five minutes older than the other heights. The difference is to the height that the report has from elsewhere.',
      alerts: ['ChainBehind'],
      unit: 'locale',
      width: 12,
      lines: [
        { expr: 'chain_status_block_number', legend: 'consensus' },
        { expr: 'chain_status_rpc_block_number', legend: 'RPC' },
        { expr: 'chain_status_external_block_number', legend: 'elsewhere' },
        { expr: 'chain_status_block_difference', legend: 'difference' },
      ],
    }),
    figures({
      title: 'Uptime',
      about:
        'Of consensus, as it reports it itself, as the status report has it and as systemd reports it, and of the host. They differ if one of them is not about the process that runs.',
      alerts: ['ChainServiceCrashed.restarts', 'ChainBlockStalled.rebooted'],
      unit: 's',
      width: 12,
      lines: [
        { expr: 'chain_native_uptime_seconds', legend: 'by itself' },
        { expr: 'chain_status_uptime_seconds', legend: 'by the report' },
        { expr: 'time() - chain_service_start_timestamp_seconds{service="bft"}', legend: 'by systemd' },
        { expr: 'time() - chain_host_boot_timestamp_seconds', legend: 'of the host' },
      ],
    }),
    figures({
      title: 'Migration of the database',
      about: 'The phase of the migration to another kind of timeline. A fork may require a later one.',
      alerts: ['ChainStorageFull.migration', 'ChainLogTrouble.timeline-missing', 'ChainUpgradeDue.promotion'],
      unit: 'none',
      words: fact('current'),
      width: 8,
      lines: [{ expr: 'chain_native_migration_phase == 1', legend: '{{phase}}' }],
    }),
    figures({
      title: 'Huge pages',
      about: 'Without those of 2 MiB execution and the tool of the database do not start.',
      alerts: ['ChainHostSetUp.huge-pages'],
      unit: 'locale',
      width: 8,
      lines: [
        { expr: 'chain_host_hugepages', legend: '{{size}}, total' },
        { expr: 'chain_host_hugepages_free', legend: '{{size}}, free' },
      ],
    }),
    figures({
      title: 'Clean-up in the status report',
      about: 'Time since the last clean-up, and until the next one, as the node reports them.',
      alerts: ['ChainCleanup'],
      unit: 's',
      width: 8,
      lines: [
        { expr: 'time() - chain_status_cleanup_last_timestamp_seconds', legend: 'since the last' },
        { expr: 'chain_status_cleanup_next_timestamp_seconds - time()', legend: 'until the next' },
      ],
    }),
  ],
}
