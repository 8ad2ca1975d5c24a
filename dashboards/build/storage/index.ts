import { type Row, frame } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { table } from '../panels/table.ts'
import { figures } from '../panels/tile.ts'
import { whileScraped } from '../node-state.ts'
import { runningOf, RUNS_OR_IDLE, overview } from '../overview.ts'
import { timeline } from '../panels/timeline.ts'
import { fitness, security, versions } from './fitness.ts'

const USE = limitsBy('ChainStorageFull', 'instance:chain_storage_used_ratio:max')

const database: Row = {
  title: 'Database of the node',
  panels: [
    graph({
      title: 'Free share of the chunks',
      about:
        'The database is written in chunks. Without a free one execution cannot write a block: free space while some are left. The used share is on the dashboard of the node.',
      alerts: ['ChainStorageFull.free-chunks', 'ChainStorageFull'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      max: 1,
      limits: limitsBy('ChainStorageFull.free-chunks', 'instance:chain_storage_free_chunks:ratio'),
      lines: [{ expr: 'instance:chain_storage_free_chunks:ratio', legend: 'free' }],
    }),
    graph({
      title: 'Chunks by list',
      about:
        'Chunks of 256 MiB in each list, as execution logs them and as the report of the tool has them. See the free ones.',
      alerts: ['ChainStorageFull.free-chunks'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      names: ['fast', 'slow', 'free', 'fast, report', 'slow, report', 'free, report'],
      lines: [
        { expr: 'chain_execution_storage_chunks', legend: '{{list}}' },
        { expr: 'chain_storage_chunks', legend: '{{list}}, report' },
      ],
    }),
    table({
      title: 'Devices',
      about: 'Each device of the database, as the report of the tool has it. Execution stops when the fullest is full.',
      alerts: ['ChainStorageFull', 'ChainBlind'],
      width: 8,
      height: 8,
      keys: { device: 'Device' },
      columns: [
        { title: 'Used', expr: 'max by (device) (chain_storage_used_bytes)', unit: 'bytes' },
        { title: 'Capacity', expr: 'max by (device) (chain_storage_capacity_bytes)', unit: 'bytes' },
        {
          title: 'Share',
          expr: 'max by (device) (chain_storage_used_ratio)',
          unit: 'percentunit',
          decimals: 1,
          limits: USE,
        },
      ],
    }),
    figures({
      title: 'Until compaction',
      about:
        'Time until the database reaches the compaction threshold, by its growth; 0: it has. A database that does not grow has none.',
      alerts: ['ChainStorageFull'],
      empty: 'not growing',
      unit: 's',
      decimals: 1,
      width: 6,
      lines: [{ expr: 'chain_storage_compaction_eta_seconds', legend: 'by its growth' }],
    }),
    figures({
      title: 'Blocks whose state is retained',
      about:
        'The number of blocks for each timeline, and the limit, which the node lowers by itself when space runs out. Older state cannot be queried.',
      alerts: ['ChainStorageFull'],
      unit: 'locale',
      width: 18,
      lines: [
        { expr: 'chain_storage_history_blocks{timeline="primary"}', legend: 'primary' },
        { expr: 'chain_storage_history_blocks{timeline="secondary"}', legend: 'secondary' },
        { expr: 'chain_storage_history_max_blocks', legend: 'limit' },
        { expr: 'chain_storage_history_earliest_block{timeline="primary"}', legend: 'earliest' },
        { expr: 'chain_storage_auto_expire_block{timeline="primary"}', legend: 'expires below' },
      ],
    }),
    table({
      title: 'Lists of chunks',
      about: 'Capacity and use of the chunks in each list, as the report of the tool has them.',
      alerts: ['ChainStorageFull.free-chunks'],
      width: 8,
      height: 7,
      keys: { list: 'List' },
      columns: [
        { title: 'Used', expr: 'max by (list) (chain_storage_chunks_used_bytes)', unit: 'bytes' },
        { title: 'Capacity', expr: 'max by (list) (chain_storage_chunks_capacity_bytes)', unit: 'bytes' },
        { title: 'Chunks', expr: 'max by (list) (chain_storage_chunks)', unit: 'locale' },
      ],
    }),
    table({
      title: 'Timelines',
      about:
        'The kind of state machine in each timeline, and the range of blocks that it retains. A fork may require a kind: see the forks on the dashboard of the node.',
      alerts: ['ChainLogTrouble.timeline-missing', 'ChainStorageFull.migration'],
      width: 8,
      height: 7,
      keys: { timeline: 'Timeline', kind: 'Kind' },
      columns: [
        {
          title: 'Earliest',
          expr: 'max by (timeline, kind) (chain_storage_timeline_info * on (job, instance, timeline) group_left () chain_storage_history_earliest_block)',
          unit: 'locale',
        },
        {
          title: 'Latest',
          expr: 'max by (timeline, kind) (chain_storage_timeline_info * on (job, instance, timeline) group_left () chain_storage_history_latest_block)',
          unit: 'locale',
        },
      ],
    }),
    table({
      title: 'Newest block in the database',
      about: 'By state. What is voted or finalized must not fall behind what is proposed by more than a few blocks.',
      alerts: ['ChainExecutionSlow.lagging'],
      width: 8,
      height: 7,
      keys: { state: 'State' },
      columns: [{ title: 'Block', expr: 'max by (state) (chain_storage_latest_block)', unit: 'locale' }],
    }),
  ],
}

/** The services to which the alert on the limit of open files applies. */
const FILES_ALLOWED = 'chain_service_max_file_descriptors{service=~"bft|execution|rpc"}'
/** The units that are monitored by default. */
const SERVICES = ['bft', 'execution', 'rpc', 'ledger-tail', 'otelcol', 'cruft']
const EXPECTED = { 0: ['no', 'good'], 1: ['yes', 'good'] } as const

const services: Row = {
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
      lines: [{ expr: 'round(increase(chain_service_starts_total{service!="cruft"}[1h]))', legend: '{{service}}' }],
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
      lines: [{ expr: 'rate(chain_service_cpu_seconds_total[$__rate_interval])', legend: '{{service}}' }],
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
      lines: [{ expr: 'rate(chain_log_lines_total[$__rate_interval])', legend: '{{service}}: {{level}}' }],
    }),
  ],
}

const pressure = (name: string): string => `rate(chain_host_pressure_${name}_seconds_total[$__rate_interval])`

const host: Row = {
  title: 'Host',
  panels: [
    graph({
      title: 'Memory',
      about: 'Share of memory that is available to programs.',
      alerts: ['ChainExecutionSlow', 'ChainServiceCrashed'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      max: 1,
      lines: [{ expr: 'chain_host_memory_available_ratio', legend: 'available' }],
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
        { expr: pressure('waiting'), legend: '{{resource}}' },
        { expr: pressure('stalled'), legend: '{{resource}}, all tasks' },
      ],
    }),
    graph({
      title: 'Offset of the clock',
      about:
        'Positive: the clock is ahead of the time service. Peers reject blocks whose timestamp is too far off. Repair the time service; the offset then returns to 0.',
      alerts: ['ChainClockDrift', 'ChainClockDrift.unsynchronised'],
      unit: 's',
      width: 8,
      limits: limitsBy('ChainClockDrift', 'chain_host_clock_offset_seconds'),
      lines: [{ expr: 'chain_host_clock_offset_seconds', legend: 'ahead' }],
    }),
    graph({
      title: 'Temperature of the drives',
      about: 'Drives slow themselves down from about 80 °C. Above the lines, see the cooling.',
      alerts: ['ChainHeat.drive'],
      unit: 'celsius',
      width: 6,
      limits: limitsBy('ChainHeat.drive', 'chain_host_nvme_temperature_celsius'),
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

/** The detail of one node: what its processes need. */
export const storageDashboard = () =>
  frame({
    name: 'storage',
    description:
      'One node in detail: services, database, drives, host, keys and files. Limits are those of the alert rules.',
    from: 'now-6h',
    rows: [overview, database, services, host, fitness, security, versions],
  })
