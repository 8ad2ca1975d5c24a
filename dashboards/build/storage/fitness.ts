import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { table } from '../panels/table.ts'
import { alarm } from '../value-labels.ts'

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
      columns: [
        { title: 'Applies', expr: `max by (check) (${CHECKS})`, unit: 'none', words: alarm('YES', 'warning') },
      ],
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
