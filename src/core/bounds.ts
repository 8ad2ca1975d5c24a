/** The lowest and the highest value of a quantity, and the values between them that stand for "not set". */
interface Bounds {
  readonly lowest: number | bigint
  readonly highest: number | bigint
  readonly sentinels?: readonly (number | bigint)[]
}

/** 2015-01-01, the year in which the first Ethereum chain began: 0 and a clock that starts in 1970 are before it. */
const FIRST_SECOND = 1_420_070_400
/** 2100-01-01: before the year 9999, with which certificates and databases write "never". */
const LAST_SECOND = 4_102_444_800
const YEAR_S = 31_557_600
const I64_MAX = 2n ** 63n - 1n

/**
 * What each quantity of the world outside can be. A value that is not possible is unknown, whatever program, kernel or
 * drive reports it.
 */
const BOUNDS = {
  /** 2^64 − 1 is "never set" in the node, and "not set" in systemd (MemoryCurrent, CPUUsageNSec, TasksCurrent). */
  u64: { lowest: 0n, highest: 2n ** 64n - 2n, sentinels: [I64_MAX] },
  /** INT64_MIN and INT64_MAX are what programs start a minimum or a maximum with. */
  i64: { lowest: -I64_MAX, highest: I64_MAX - 1n },
  /** A metric of a program: a double has the integers up to 2^53, and 2^64 for the sentinel of the node. */
  metric: { lowest: 0, highest: Number.MAX_SAFE_INTEGER },
  unixSeconds: { lowest: FIRST_SECOND, highest: LAST_SECOND },
  unixMilliseconds: { lowest: FIRST_SECOND * 1000, highest: LAST_SECOND * 1000 },
  /** From or to now, in seconds. "56 years ago" is the time 0, which systemd has for a timer that never ran. */
  age: { lowest: -30 * YEAR_S, highest: 30 * YEAR_S },
  /** RFC 5905, section 6: the timestamps of NTP have 2^32 s, so that a difference is at most half of it. */
  clockOffset: { lowest: -(2 ** 31), highest: 2 ** 31 },
  /**
   * NVMe base specification, SMART / Health Information log: the composite temperature is in kelvin, 0 if the drive does
   * not report it. drivers/nvme/host/hwmon.c of Linux makes −273.15 °C of it, and smartctl −273; 65,535 is 65,262 °C.
   */
  celsius: { lowest: -60, highest: 200 },
  /** One byte; all bits are set in what the bus returns for a drive that has failed. */
  driveWarning: { lowest: 0, highest: 254 },
  /** The same log: one byte, and 255 is 255 % or more. */
  driveEndurancePercent: { lowest: 0, highest: 255 },
  /** The same log: 128 bits. 32 bits that are all set are a failed read. */
  driveErrors: { lowest: 0, highest: 2 ** 32 - 2 },
  /** 100 years. */
  driveHours: { lowest: 0, highest: 876_600 },
  /** The same log: units of 512,000 bytes, here 512 PB: a drive is rated for about a tenth of it. */
  driveDataUnits: { lowest: 0, highest: 10 ** 12 },
  ratio: { lowest: 0, highest: 1 },
  /** Up to 8 PiB, the integers of a double. Free space that is negative wraps around to almost 2^64 (statfs of Linux, f_bavail). */
  bytes: { lowest: 0, highest: Number.MAX_SAFE_INTEGER },
  /** The size of a file system or a memory that exists. */
  sizeBytes: { lowest: 1, highest: Number.MAX_SAFE_INTEGER },
  /** PID_MAX_LIMIT of Linux (include/linux/threads.h). */
  tasks: { lowest: 0, highest: 2 ** 22 },
  /** NRestarts of systemd is an unsigned int. */
  restarts: { lowest: 0, highest: 2 ** 32 - 2 },
  /** The exit status or the number of a signal: one byte (waitid). */
  exitStatus: { lowest: 0, highest: 255 },
  /** 10^12 tokens: ten times the supply of the largest chain. Solidity has 2^256 − 1 for "no limit". */
  wei: { lowest: 0n, highest: 10n ** 30n },
  /** In parts of 10^18. */
  commission: { lowest: 0n, highest: 10n ** 18n },
} as const satisfies Readonly<Record<string, Bounds>>

export type Quantity = keyof typeof BOUNDS

/** The value, or null if it is unknown: missing, a sentinel, or impossible. */
export const withinBounds = <T extends number | bigint>(quantity: Quantity, value: T | null | undefined): T | null => {
  if (value === null || value === undefined) return null
  const { lowest, highest, sentinels = [] }: Bounds = BOUNDS[quantity]
  const isKnown = value >= lowest && value <= highest && !sentinels.includes(value)
  return isKnown ? value : null
}

/** Clocks of hosts that take part in consensus differ by less. */
const AHEAD_MS = 60_000

/**
 * The time of something that has happened, in milliseconds since the epoch; null if it is impossible or later than now:
 * its age would stay negative, and it would count as current for ever.
 */
export const pastTime = (at: number | null | undefined, now: number): number | null => {
  const known = withinBounds('unixMilliseconds', at)
  return known === null || known > now + AHEAD_MS ? null : known
}

/** When a certificate ends, in milliseconds since the epoch. Null for the year 9999, with which RFC 5280, section 4.1.2.5, writes "no expiration". */
export const certificateEnd = (certificate: { readonly validTo: string } | undefined): number | null =>
  withinBounds('unixMilliseconds', Date.parse(certificate?.validTo ?? ''))
