import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { table } from '../panels/table.ts'
import { figures } from '../panels/tile.ts'
import { alarm } from '../value-labels.ts'

/** A value of each drive, with its model. */
const describedDrive = (expr: string): string => `
  max by (device, model, firmware) (
    (${expr}) * on (job, instance, device) group_left (model, firmware) chain_host_nvme_info
  )`

export const host: Row = {
  title: 'Host',
  panels: [
    graph({
      title: 'Processors and memory',
      about: 'Share of CPU time that was not idle, and of memory that is available to programs.',
      alerts: ['ChainExecutionSlow', 'ChainServiceCrashed'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      max: 1,
      lines: [
        { expr: 'chain_host_cpu_busy_ratio', legend: 'processors busy' },
        { expr: 'chain_host_memory_available_ratio', legend: 'memory available' },
      ],
    }),
    graph({
      title: 'Clock ahead of the time service',
      about:
        'Peers reject blocks whose timestamp is too far off. Repair the time service; the offset then returns to 0.',
      alerts: ['ChainClockDrift', 'ChainClockUnsynchronised'],
      unit: 's',
      width: 8,
      limits: limitsBy({ alert: 'ChainClockDrift', metric: 'chain_host_clock_offset_seconds' }),
      lines: [
        { expr: 'chain_host_clock_offset_seconds', legend: 'ahead' },
        { expr: 'abs(chain_host_clock_offset_seconds)', legend: 'off, either way' },
      ],
    }),
    graph({
      title: 'Throttled by heat',
      about:
        'Times that the processors were slowed down, in ten minutes. It costs blocks without any other sign: cool the host.',
      alerts: ['ChainThrottled'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      bars: true,
      lines: [{ expr: 'increase(chain_host_cpu_throttles_total[10m])', legend: 'throttled' }],
    }),
    graph({
      title: 'Waiting for CPU, drives and memory',
      about:
        'Share of the time in which at least one task waited for the resource (pressure of the kernel). If it rises, blocks are executed and votes are sent late.',
      alerts: ['ChainVotesLate', 'ChainExecutionSlow', 'ChainOomKill'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      lines: [
        { expr: 'rate(chain_host_pressure_seconds_total{share="some"}[$__rate_interval])', legend: '{{resource}}' },
      ],
    }),
    graph({
      title: 'Latency of the drives',
      about: 'Mean duration of an operation, from the request until it is complete.',
      alerts: ['ChainExecutionSlow', 'ChainDriveFailing'],
      unit: 's',
      width: 8,
      min: 0,
      lines: [
        {
          expr: `rate(chain_host_drive_operation_seconds_total[$__rate_interval])
  / on (job, instance, device, operation) rate(chain_host_drive_operations_total[$__rate_interval])`,
          legend: '{{device}} {{operation}}',
        },
      ],
    }),
    graph({
      title: 'Queue of the drives',
      about: 'Mean number of operations that wait for the drive or are in progress.',
      alerts: ['ChainExecutionSlow', 'ChainDriveFailing'],
      unit: 'locale',
      decimals: 1,
      width: 8,
      min: 0,
      lines: [{ expr: 'rate(chain_host_drive_queue_seconds_total[$__rate_interval])', legend: '{{device}}' }],
    }),
    graph({
      title: 'Dropped UDP packets',
      about:
        'Packets in five minutes that the kernel dropped because a socket buffer was full. Blocks and votes arrive over UDP.',
      alerts: ['ChainUdpDrops'],
      unit: 'locale',
      decimals: 0,
      width: 12,
      min: 0,
      bars: true,
      lines: [{ expr: 'increase(chain_host_udp_errors_total[5m])', legend: '{{kind}}' }],
    }),
    graph({
      title: 'Processes killed for lack of memory',
      about: 'Processes in ten minutes that the kernel killed.',
      alerts: ['ChainOomKill'],
      unit: 'locale',
      decimals: 0,
      width: 12,
      min: 0,
      bars: true,
      lines: [{ expr: 'increase(chain_host_oom_kills_total[10m])', legend: 'killed' }],
    }),
    graph({
      title: 'Free on the file systems',
      about:
        'Free share of the file system of each directory that the node needs. When it falls look at the clean-up first, then at what else writes there.',
      alerts: ['ChainDiskFilling', 'ChainDiskFull', 'ChainDirectoryGone'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      max: 1,
      limits: limitsBy({ alert: 'ChainDiskFull', metric: 'chain_host_filesystem_size_bytes' }),
      names: ['ledger', 'wal'],
      lines: [
        {
          expr: 'chain_host_filesystem_available_bytes / chain_host_filesystem_size_bytes',
          legend: '{{directory}}',
        },
      ],
    }),
    graph({
      title: 'Temperature of the drives',
      about: 'Drives slow themselves down from about 80 °C. Above the lines: look at the cooling.',
      alerts: ['ChainDriveHot'],
      unit: 'celsius',
      width: 8,
      limits: limitsBy({ alert: 'ChainDriveHot', metric: 'chain_host_nvme_temperature_celsius' }),
      names: ['nvme0', 'nvme1', 'nvme2', 'nvme3'],
      lines: [{ expr: 'chain_host_nvme_temperature_celsius', legend: '{{device}}' }],
    }),
    graph({
      title: 'Space of directories',
      about: 'What the files of each directory take, where the agent may sum it.',
      alerts: ['ChainDiskFilling'],
      unit: 'bytes',
      width: 8,
      min: 0,
      names: ['ledger', 'wal'],
      lines: [{ expr: 'chain_host_directory_bytes', legend: '{{directory}}' }],
    }),
    table({
      title: 'Drives',
      about:
        'What each drive says of itself. Any bit of the critical warning: replace it. Errors that it could not correct: be ready to.',
      alerts: ['ChainDriveFailing', 'ChainDriveErrors', 'ChainDriveWorn', 'ChainDriveGone'],
      width: 12,
      height: 7,
      keys: { device: 'Drive', model: 'Model', firmware: 'Firmware' },
      columns: [
        {
          title: 'Critical warning',
          width: 160,
          expr: describedDrive('chain_host_nvme_critical_warning'),
          unit: 'none',
          words: { 0: ['none', 'good'] },
          limits: limitsBy({
            alert: 'ChainDriveFailing',
            metric: 'chain_host_nvme_critical_warning',
            whole: true,
          }),
        },
        {
          title: 'Errors, 24 h',
          expr: describedDrive('round(increase(chain_host_nvme_media_errors_total[24h]))'),
          unit: 'locale',
          limits: limitsBy({
            alert: 'ChainDriveErrors',
            metric: 'chain_host_nvme_media_errors_total',
            whole: true,
          }),
        },
        {
          title: 'Life used',
          expr: describedDrive('chain_host_nvme_used_ratio'),
          unit: 'percentunit',
          decimals: 0,
          limits: limitsBy({ alert: 'ChainDriveWorn', metric: 'chain_host_nvme_used_ratio' }),
        },
      ],
    }),
    table({
      title: 'File systems',
      about: 'Size and free space of the file system of each directory that the node needs.',
      alerts: ['ChainDiskFull'],
      width: 12,
      height: 7,
      keys: { directory: 'Directory' },
      columns: [
        {
          title: 'Free',
          expr: 'max by (directory) (chain_host_filesystem_available_bytes)',
          unit: 'bytes',
        },
        {
          title: 'Size',
          expr: 'max by (directory) (chain_host_filesystem_size_bytes)',
          unit: 'bytes',
        },
        {
          title: 'Full at this pace in',
          expr: `
            max by (directory) (
              chain_host_filesystem_available_bytes
              / (deriv(chain_host_filesystem_available_bytes[6h]) * -1 > 0)
            )`,
          unit: 's',
        },
      ],
    }),
    figures({
      title: 'What breaks such nodes',
      about:
        'A kernel that is known to break them, now or after the next reboot; a clock that nothing keeps; multithreading, which lets consensus and execution slow each other down.',
      alerts: ['ChainKernelBlocked', 'ChainClockUnsynchronised', 'ChainSmtActive'],
      unit: 'none',
      words: alarm('YES', 'warning'),
      width: 12,
      lines: [
        { expr: 'chain_host_kernel_blocked{kernel="running"}', legend: 'kernel blocked' },
        { expr: 'chain_host_kernel_blocked{kernel="pending"}', legend: 'next kernel blocked' },
        { expr: '1 - chain_host_clock_synchronized', legend: 'clock not kept' },
        { expr: 'chain_host_smt_active', legend: 'multithreading' },
      ],
    }),
    figures({
      title: 'Huge pages',
      about: 'Without those of 2 MiB execution and the tool of the database cannot start.',
      alerts: ['ChainHugePagesMissing'],
      unit: 'locale',
      width: 12,
      lines: [{ expr: 'chain_host_hugepages', legend: '{{size}}, {{state}}' }],
    }),
  ],
}
