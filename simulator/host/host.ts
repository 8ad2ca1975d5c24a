import type { SimulatedNode } from '../subject.ts'
import {
  type Argument,
  courseTo,
  directiveTable,
  duration,
  goalInTime,
  oneOf,
  percent,
  setIn,
  settingOf,
  steady,
  taking,
  wholeNumber,
} from '../scenario/directives.ts'
import type { Effect } from '../scenario/timeline.ts'
import { restartAll, ROLES } from '../services/service.ts'
import type { Tool } from '../tools/tools.ts'
import { widen } from '../../src/core/widen.ts'

export const GOVERNORS = ['performance', 'powersave', 'schedutil'] as const
export const DRIVES = ['healthy', 'hot', 'failing', 'gone'] as const

/** The state of the host of a node. */
export type Host = Readonly<ReturnType<typeof usualHost>>

interface Drops {
  readonly perSecond: number
  readonly fromMs: number
  /** Number of drops until then. */
  readonly before: number
}

const HOUR_MS = 3_600_000
/** Longer than that of any service. */
const UPTIME_MS = 312.4 * HOUR_MS

export const usualHost = (beginMs: number) => {
  const noDrops: Drops = { perSecond: 0, fromMs: beginMs, before: 0 }
  return {
    bootedMs: beginMs - UPTIME_MS,
    kernel: '6.8.0-87-generic',
    /** The newest installed kernel. */
    pendingKernel: '6.8.0-88-generic',
    /** How far the clock is ahead; undefined while it is not synchronized. */
    clockAheadMs: widen<number | undefined>(0.2),
    multithreading: false,
    governor: widen<(typeof GOVERNORS)[number]>('performance'),
    /** Since when the CPUs are throttled for heat. */
    throttledFromMs: widen<number | undefined>(undefined),
    /** Share of CPU time, in percent. */
    busyPercent: 22,
    /** Share of the memory that programs can still get, in percent. */
    availableMemoryPercent: 75,
    /** Number of processes that the kernel has killed for lack of memory. */
    oomKills: 0,
    /** Number of free huge pages of 2 MiB. */
    hugePagesFree: 512,
    maxOpenFiles: 524_288,
    /** Number of files that consensus has open. */
    openFiles: 143,
    /** Ports with a listener on every interface. */
    exposedPorts: widen<readonly number[]>([]),
    /** UDP packets that the host drops for lack of a buffer, of any process. */
    udpDrops: noDrops,
    /** Packets that the network card loses, because it has no free buffer. */
    cardDrops: noDrops,
    /** Milliseconds in which all programs waited for the disk, in addition to the usual ones. */
    diskStalls: noDrops,
    /** The number of files of the ledger. */
    ledgerFiles: steady(24),
    drive: { is: widen<(typeof DRIVES)[number]>('healthy'), fromMs: beginMs },
    /** When the forkpoint was last written; undefined while it is updated continuously. */
    forkpointMs: widen<number | undefined>(undefined),
    /** The number of epochs by which the file with the sets of validators is too old. */
    setsAge: 0n,
    /** Whether the directory of the write-ahead log exists. */
    hasWal: true,
    /** The size of the write-ahead log. */
    walMegabytes: steady(2),
  }
}

export const dropsAt = ({ perSecond, fromMs, before }: Drops, ms: number): number =>
  before + Math.floor((Math.max(0, ms - fromMs) / 1000) * perSecond)

const changeHost = setIn('host')

const changeDrops =
  (drops: 'udpDrops' | 'cardDrops' | 'diskStalls') =>
  (perSecond: number): Effect =>
    changeHost((host, atMs) => ({ [drops]: { perSecond, fromMs: atMs, before: dropsAt(host[drops], atMs) } }))

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
const megabytesInTime = goalInTime('megabytes up to 64 and a duration, such as "32MB in 1m"', 'MB', 64)
/** Each is a real file. */
const filesInTime = goalInTime('a number of files up to 40000 and a duration, such as "30000 in 10h"', '', 40_000)

const drops = wholeNumber('a number of packets from 0 to 1000', { from: 0, to: 1000 })

/** Every service ends and starts again, with a new process. */
const reboot: Effect = (condition, atMs) => {
  const { host, services } = condition
  return {
    ...condition,
    host: { ...host, bootedMs: atMs, kernel: host.pendingKernel, throttledFromMs: undefined, oomKills: 0 },
    services: restartAll(services, ROLES, atMs),
  }
}

/** Directives for the host of the node. */
export const hostDirectives = directiveTable({
  'host reboots': ['the host reboots with the pending kernel; all services restart', reboot],
  'host clock': ['the offset of the clock, which chrony reports', settingOf('host', 'clockAheadMs', offset)],
  'host unsynchronized': ['chrony has no server', changeHost({ clockAheadMs: undefined })],
  'host pending': ['the installed kernel, which the next boot starts', settingOf('host', 'pendingKernel', kernel)],
  'host smt': [
    'simultaneous multithreading is on or off',
    taking(oneOf(['on', 'off']), (word) => changeHost({ multithreading: word === 'on' })),
  ],
  'host governor': ['the frequency governor of all CPUs', settingOf('host', 'governor', oneOf(GOVERNORS))],
  'host throttles': [
    'the CPUs are too hot and are throttled twice a second',
    changeHost((_, atMs) => ({ throttledFromMs: atMs })),
  ],
  'host busy': ['CPU use', settingOf('host', 'busyPercent', percent)],
  'host memory': [
    'the share of the memory that programs can still get; below 5 % they wait for it',
    settingOf('host', 'availableMemoryPercent', percent),
  ],
  'host kills': [
    'the kernel kills a process for lack of memory',
    changeHost(({ oomKills }) => ({ oomKills: oomKills + 1 })),
  ],
  'host hugepages': ['the number of free huge pages of 2 MiB', settingOf('host', 'hugePagesFree', pages)],
  'host fdlimit': ['the limit of open files of the services', settingOf('host', 'maxOpenFiles', files)],
  'host openfiles': ['the number of open files of consensus', settingOf('host', 'openFiles', openFiles)],
  'host exposes': [
    'a process listens on the port on every interface',
    taking(port, (number) => changeHost(({ exposedPorts }) => ({ exposedPorts: [...exposedPorts, number] }))),
  ],
  'host hides': [
    'the port is reachable on the loopback interface only',
    taking(port, (number) =>
      changeHost(({ exposedPorts }) => ({ exposedPorts: exposedPorts.filter((one) => one !== number) })),
    ),
  ],
  'host drops': [
    'the number of UDP packets, of any process, that the host drops per second for lack of a buffer',
    taking(drops, changeDrops('udpDrops')),
  ],
  'host misses': [
    'the number of packets that the network card loses per second, because it has no free buffer',
    taking(drops, changeDrops('cardDrops')),
  ],
  'host stalls': [
    'the share of the time in which all programs wait for the disk',
    taking(percent, (share) => changeDrops('diskStalls')(share * 10)),
  ],
  'ledger fills': [
    'the number of files of the ledger grows linearly to that number',
    taking(filesInTime, (goal) =>
      changeHost(({ ledgerFiles }, atMs) => ({ ledgerFiles: courseTo(goal, ledgerFiles, atMs) })),
    ),
  ],
  'host nvme': [
    'the drive of the database is healthy, too hot, failing, or off the bus',
    taking(oneOf(DRIVES), (is) => changeHost((_, fromMs) => ({ drive: { is, fromMs } }))),
  ],
  'forkpoint ages': [
    'its file is that old and no longer written',
    taking(duration, (ageMs) => changeHost((_, atMs) => ({ forkpointMs: atMs - ageMs }))),
  ],
  'validators age': ['the file with their sets is that of two epochs before', changeHost({ setsAge: 2n })],
  'validators renew': ['the file has the sets of these epochs again', changeHost({ setsAge: 0n })],
  'forkpoint renews': ['its file is written continuously again', changeHost({ forkpointMs: undefined })],
  'wal grows': [
    'the write-ahead log grows linearly to that size',
    taking(megabytesInTime, (goal) =>
      changeHost(({ walMegabytes }, atMs) => ({ walMegabytes: courseTo(goal, walMegabytes, atMs) })),
    ),
  ],
  'wal vanishes': ['its file system is no longer mounted', changeHost({ hasWal: false })],
  'wal returns': ['its file system is mounted again', changeHost({ hasWal: true })],
})

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
