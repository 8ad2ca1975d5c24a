import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'

/** `share` is that of an agent of version 0.2.0, which has both in one metric. */
const pressure = (name: string, share: string): string => `
  rate(chain_host_pressure_${name}_seconds_total[$__rate_interval])
  or sum without (share) (rate(chain_host_pressure_seconds_total{share="${share}"}[$__rate_interval]))`

export const host: Row = {
  title: 'Host',
  panels: [
    graph({
      title: 'CPU and memory',
      about: 'Share of CPU time that was not idle, and of memory that is available to programs.',
      alerts: ['ChainExecutionSlow', 'ChainServiceCrashed'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      max: 1,
      lines: [
        { expr: 'chain_host_cpu_busy_ratio', legend: 'CPU busy' },
        { expr: 'chain_host_memory_available_ratio', legend: 'memory available' },
      ],
    }),
    graph({
      title: 'Waiting for CPU, drives and memory',
      about:
        'Share of the time in which at least one task, or all tasks, waited for the resource (pressure stall information of the kernel). If it rises, blocks are executed and votes are sent late.',
      alerts: ['ChainNotVoting.late', 'ChainExecutionSlow', 'ChainMemoryLow', 'ChainMemoryLow.oom-kill'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      names: ['cpu', 'io', 'memory', 'io, all tasks', 'memory, all tasks'],
      lines: [
        { expr: pressure('waiting', 'some'), legend: '{{resource}}' },
        {
          expr: pressure('stalled', 'full'),
          legend: '{{resource}}, all tasks',
        },
      ],
    }),
    graph({
      title: 'Offset of the clock',
      about:
        'Positive: the clock is ahead of the time service. Peers reject blocks whose timestamp is too far off. Repair the time service; the offset then returns to 0.',
      alerts: ['ChainClockDrift', 'ChainClockDrift.unsynchronised'],
      unit: 's',
      width: 8,
      limits: limitsBy({ alert: 'ChainClockDrift', metric: 'chain_host_clock_offset_seconds' }),
      lines: [{ expr: 'chain_host_clock_offset_seconds', legend: 'ahead' }],
    }),
    graph({
      title: 'Temperature of the drives',
      about: 'Drives slow themselves down from about 80 °C. Above the lines, see the cooling.',
      alerts: ['ChainHeat.drive'],
      unit: 'celsius',
      width: 6,
      limits: limitsBy({ alert: 'ChainHeat.drive', metric: 'chain_host_nvme_temperature_celsius' }),
      lines: [{ expr: 'chain_host_nvme_temperature_celsius', legend: '{{device}}' }],
    }),
    graph({
      title: 'Lost packets, kills, throttling, in ten minutes',
      about:
        'UDP packets that the kernel dropped because a socket buffer was full (blocks and votes arrive over UDP), packets that the network card lost or found damaged, processes that it killed for lack of memory, and times that the CPUs were slowed down by heat.',
      alerts: ['ChainUdpDrops', 'ChainMemoryLow.oom-kill', 'ChainHeat.cpu'],
      unit: 'locale',
      decimals: 0,
      width: 6,
      min: 0,
      softMax: 4,
      bars: true,
      names: ['UDP, receive_buffer', 'UDP, send_buffer', 'network card, missed', 'network card, error'],
      lines: [
        { expr: 'increase(chain_host_udp_errors_total[10m])', legend: 'UDP, {{kind}}' },
        { expr: 'increase(chain_host_network_drops_total{kind!="dropped"}[10m])', legend: 'network card, {{kind}}' },
        { expr: 'increase(chain_host_oom_kills_total[10m])', legend: 'processes killed' },
        { expr: 'increase(chain_host_cpu_throttles_total[10m])', legend: 'CPU throttled' },
      ],
    }),
    graph({
      title: 'Space of directories',
      about: 'Disk usage of the files of each directory. If it grows, see the timers of the clean-up.',
      alerts: ['ChainDiskFull.filling'],
      unit: 'bytes',
      width: 6,
      min: 0,
      lines: [{ expr: 'chain_host_directory_bytes', legend: '{{directory}}' }],
    }),
    graph({
      title: 'Available memory',
      about: 'Memory that programs can still get. Near 0 the kernel kills the largest process, which is execution.',
      alerts: ['ChainServiceCrashed', 'ChainMemoryLow.oom-kill'],
      unit: 'bytes',
      width: 6,
      min: 0,
      lines: [{ expr: 'chain_host_memory_available_bytes', legend: 'available' }],
    }),
  ],
}
