export const GOVERNORS = ['performance', 'powersave', 'schedutil'] as const
export const DRIVES = ['well', 'hot', 'failing', 'gone'] as const

/** How it stands with the host of a node. */
export interface Host {
  readonly bootedMs: number
  readonly kernel: string
  /** The newest kernel that is installed. */
  readonly pendingKernel: string
  /** By how much the clock is ahead; undefined while nothing keeps it. */
  readonly clockAheadMs: number | undefined
  readonly multithreading: boolean
  readonly governor: (typeof GOVERNORS)[number]
  /** Since when the processors are too hot. */
  readonly throttledFromMs: number | undefined
  /** Share of processor time, in percent. */
  readonly busyPercent: number
  /** Huge pages of 2 MiB that are free. */
  readonly hugePagesFree: number
  readonly maxOpenFiles: number
  /** Of consensus. */
  readonly openFiles: number
  /** Ports on which something listens on every interface. */
  readonly exposedPorts: readonly number[]
  readonly drive: { readonly is: (typeof DRIVES)[number]; readonly fromMs: number }
  /** When the forkpoint was last written; undefined while it is written all the time. */
  readonly forkpointMs: number | undefined
  readonly wal: Wal
}

/** The write-ahead log: its directory is there or not, and its size goes in a straight line. */
interface Wal {
  readonly isThere: boolean
  readonly fromMs: number
  readonly overMs: number
  readonly fromMegabytes: number
  readonly toMegabytes: number
}

const HOUR_MS = 3_600_000
/** Longer than any of its services. */
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
