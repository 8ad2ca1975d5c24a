import type { SimulatedNode } from '../node.ts'
import {
  type Argument,
  bareDirective,
  type Directive,
  directive,
  duration,
  type Effect,
  oneOf,
  percent,
  wholeNumber,
} from '../scenario/directives.ts'
import { restartService } from '../services/service.ts'
import type { Tool } from '../tools/tools.ts'

export const GOVERNORS = ['performance', 'powersave', 'schedutil'] as const
export const DRIVES = ['well', 'hot', 'failing', 'gone'] as const

/** The state of the host of a node. */
export interface Host {
  readonly bootedMs: number
  readonly kernel: string
  /** The newest installed kernel. */
  readonly pendingKernel: string
  /** How far the clock is ahead; undefined while it is not synchronized. */
  readonly clockAheadMs: number | undefined
  readonly multithreading: boolean
  readonly governor: (typeof GOVERNORS)[number]
  /** Since when the CPUs are throttled for heat. */
  readonly throttledFromMs: number | undefined
  /** Share of CPU time, in percent. */
  readonly busyPercent: number
  /** Number of free huge pages of 2 MiB. */
  readonly hugePagesFree: number
  readonly maxOpenFiles: number
  /** Number of files that consensus has open. */
  readonly openFiles: number
  /** Ports with a listener on every interface. */
  readonly exposedPorts: readonly number[]
  readonly drive: { readonly is: (typeof DRIVES)[number]; readonly fromMs: number }
  /** When the forkpoint was last written; undefined while it is updated continuously. */
  readonly forkpointMs: number | undefined
  readonly wal: Wal
}

/** The write-ahead log: whether its directory exists, and its size, which changes linearly. */
interface Wal {
  readonly isThere: boolean
  readonly fromMs: number
  readonly overMs: number
  readonly fromMegabytes: number
  readonly toMegabytes: number
}

const HOUR_MS = 3_600_000
/** Longer than that of any service. */
const UPTIME_MS = 312.4 * HOUR_MS
const WAL_MEGABYTES = 2

export const usualHost = (beginMs: number): Host => ({
  bootedMs: beginMs - UPTIME_MS,
  kernel: '6.8.0-87-generic',
  pendingKernel: '6.8.0-88-generic',
  clockAheadMs: 0.2,
  multithreading: false,
  governor: 'performance',
  throttledFromMs: undefined,
  busyPercent: 22,
  hugePagesFree: 512,
  maxOpenFiles: 524_288,
  openFiles: 143,
  exposedPorts: [],
  drive: { is: 'well', fromMs: beginMs },
  forkpointMs: undefined,
  wal: {
    isThere: true,
    fromMs: beginMs,
    overMs: 0,
    fromMegabytes: WAL_MEGABYTES,
    toMegabytes: WAL_MEGABYTES,
  },
})

export const walMegabytesAt = (wal: Wal, ms: number): number => {
  const share = wal.overMs === 0 ? 1 : Math.min(1, Math.max(0, (ms - wal.fromMs) / wal.overMs))
  return wal.fromMegabytes + (wal.toMegabytes - wal.fromMegabytes) * share
}

const port = wholeNumber('a port, such as 8080', { from: 1, to: 65_535 })
const files = wholeNumber('a number of files up to 1000000', { from: 1, to: 1_000_000 })
/** Each open file is an entry of a real directory. */
const openFiles = wholeNumber('a number of files up to 4000', { from: 0, to: 4000 })
const pages = wholeNumber('a number of pages up to 2048', { from: 0, to: 2048 })

const kernel: Argument<string> = {
  expected: 'a kernel release, such as 6.8.0-58-generic',
  read: (text) => (/^\d+\.\d+\.\d+-\d+-[a-z]+$/.test(text) ? text : undefined),
}

/** Negative if the clock is behind. */
const offset: Argument<number> = {
  expected: 'milliseconds ahead or behind, such as 300ms or -40ms',
  read: (text) => {
    const [, value = ''] = /^(-?\d{1,6}(?:\.\d{1,3})?)ms$/.exec(text) ?? []
    return value === '' ? undefined : Number(value)
  },
}

/** The simulator really writes these bytes to disk. */
const megabytesInTime: Argument<{ readonly megabytes: number; readonly ms: number }> = {
  expected: 'megabytes up to 64 and a duration, such as "32MB in 1m"',
  read: (text) => {
    const [, size = '', time = ''] = /^(\d{1,2})MB in (\S+)$/.exec(text) ?? []
    const ms = duration.read(time)
    return size === '' || ms === undefined || Number(size) > 64 ? undefined : { megabytes: Number(size), ms }
  },
}

const changeHost =
  (change: (host: Host, atMs: number) => Partial<Host>): Effect =>
  (condition, atMs) => ({
    ...condition,
    host: { ...condition.host, ...change(condition.host, atMs) },
  })

/** Every service ends and starts again, with a new process. */
const reboot: Effect = (condition, atMs) => {
  const { services } = condition
  return {
    ...condition,
    host: {
      ...condition.host,
      bootedMs: atMs,
      kernel: condition.host.pendingKernel,
      throttledFromMs: undefined,
    },
    services: {
      ...services,
      bft: restartService(services.bft, atMs),
      execution: restartService(services.execution, atMs),
      rpc: restartService(services.rpc, atMs),
      'ledger-tail': restartService(services['ledger-tail'], atMs),
      otelcol: restartService(services.otelcol, atMs),
    },
  }
}

const subject = 'host'

/** Directives for the host of the node. */
export const hostDirectives: readonly Directive[] = [
  bareDirective(
    {
      subject,
      verb: 'reboots',
      meaning: 'the host reboots with the pending kernel; all services restart',
    },
    reboot,
  ),
  directive(
    { subject, verb: 'clock', meaning: 'the offset of the clock, which chrony reports' },
    offset,
    (clockAheadMs) => changeHost(() => ({ clockAheadMs })),
  ),
  bareDirective(
    { subject, verb: 'unsynchronized', meaning: 'chrony has no server' },
    changeHost(() => ({ clockAheadMs: undefined })),
  ),
  directive({ subject, verb: 'kernel', meaning: 'the running kernel' }, kernel, (release) =>
    changeHost(() => ({ kernel: release })),
  ),
  directive(
    {
      subject,
      verb: 'pending',
      meaning: 'the installed kernel, which the next boot starts',
    },
    kernel,
    (pendingKernel) => changeHost(() => ({ pendingKernel })),
  ),
  directive(
    { subject, verb: 'smt', meaning: 'simultaneous multithreading is on or off' },
    oneOf(['on', 'off']),
    (word) => changeHost(() => ({ multithreading: word === 'on' })),
  ),
  directive(
    { subject, verb: 'governor', meaning: 'the frequency governor of all CPUs' },
    oneOf(GOVERNORS),
    (governor) => changeHost(() => ({ governor })),
  ),
  bareDirective(
    {
      subject,
      verb: 'throttles',
      meaning: 'the CPUs are too hot and are throttled twice a second',
    },
    changeHost((_, atMs) => ({ throttledFromMs: atMs })),
  ),
  directive({ subject, verb: 'busy', meaning: 'CPU use' }, percent, (busyPercent) =>
    changeHost(() => ({ busyPercent })),
  ),
  directive({ subject, verb: 'hugepages', meaning: 'the number of free huge pages of 2 MiB' }, pages, (hugePagesFree) =>
    changeHost(() => ({ hugePagesFree })),
  ),
  directive({ subject, verb: 'fdlimit', meaning: 'the limit of open files of the services' }, files, (maxOpenFiles) =>
    changeHost(() => ({ maxOpenFiles })),
  ),
  directive({ subject, verb: 'openfiles', meaning: 'the number of open files of consensus' }, openFiles, (count) =>
    changeHost(() => ({ openFiles: count })),
  ),
  directive({ subject, verb: 'exposes', meaning: 'a process listens on the port on every interface' }, port, (number) =>
    changeHost(({ exposedPorts }) => ({ exposedPorts: [...exposedPorts, number] })),
  ),
  directive(
    { subject, verb: 'hides', meaning: 'the port is reachable on the loopback interface only' },
    port,
    (number) =>
      changeHost(({ exposedPorts }) => ({
        exposedPorts: exposedPorts.filter((one) => one !== number),
      })),
  ),
  directive(
    {
      subject,
      verb: 'nvme',
      meaning: 'the drive of the database is healthy, too hot, failing, or off the bus',
    },
    oneOf(DRIVES),
    (is) => changeHost((_, fromMs) => ({ drive: { is, fromMs } })),
  ),
  directive(
    {
      subject: 'forkpoint',
      verb: 'ages',
      meaning: 'its file is that old and no longer written',
    },
    duration,
    (ageMs) => changeHost((_, atMs) => ({ forkpointMs: atMs - ageMs })),
  ),
  bareDirective(
    { subject: 'forkpoint', verb: 'renews', meaning: 'its file is written continuously again' },
    changeHost(() => ({ forkpointMs: undefined })),
  ),
  directive(
    {
      subject: 'wal',
      verb: 'grows',
      meaning: 'the write-ahead log grows linearly to that size',
    },
    megabytesInTime,
    ({ megabytes, ms }) =>
      changeHost(({ wal }, atMs) => ({
        wal: {
          isThere: true,
          fromMs: atMs,
          overMs: ms,
          fromMegabytes: walMegabytesAt(wal, atMs),
          toMegabytes: megabytes,
        },
      })),
  ),
  bareDirective(
    { subject: 'wal', verb: 'vanishes', meaning: 'its file system is no longer mounted' },
    changeHost(({ wal }) => ({ wal: { ...wal, isThere: false } })),
  ),
  bareDirective(
    { subject: 'wal', verb: 'returns', meaning: 'its file system is mounted again' },
    changeHost(({ wal }) => ({ wal: { ...wal, isThere: true } })),
  ),
]

/** The simulated chronyc; supports only `-c tracking`. */
export const createChronyc =
  (node: SimulatedNode): Tool =>
  (argv) => {
    if (argv.join(' ') !== '-c tracking') {
      return [{ stderr: 'the simulated chronyc knows -c tracking only\n' }, { exit: 1 }]
    }
    const { clockAheadMs } = node.condition().host
    const at = (Math.floor(node.now() / 64_000) * 64).toFixed(9)
    // chronyc prints the correction: negative for a clock that is ahead.
    const line =
      clockAheadMs === undefined
        ? '00000000,,0,0.000000000,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,1.000000000,1.000000000,0.0,Not synchronised'
        : `C0000207,192.0.2.7,3,${at},${(-clockAheadMs / 1000).toFixed(9)},0.000031400,0.000120000,-11.732,0.004,0.091,0.008213000,0.001100000,64.4,Normal`
    return [{ stdout: `${line}\n` }, { exit: 0 }]
  }
