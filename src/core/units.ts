import { withinBounds } from './bounds.ts'

const MILLISECONDS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const

export const second = MILLISECONDS.s
export const minute = MILLISECONDS.m
export const hour = MILLISECONDS.h
export const day = MILLISECONDS.d

/** The value of each unit of a duration. */
type DurationUnits = ReadonlyMap<string, number>

const UNITS: DurationUnits = new Map(Object.entries(MILLISECONDS))

/** The units of PromQL, in seconds. */
export const PROMQL_UNITS: DurationUnits = new Map([
  ['ms', 0.001],
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
  ['w', 604_800],
])

/** The units of systemd time spans, in seconds. */
const SYSTEMD_UNITS: DurationUnits = new Map([
  ['us', 1e-6],
  ['\u03BCs', 1e-6],
  ['ms', 1e-3],
  ['s', 1],
  ['m', 60],
  ['min', 60],
  ['h', 3600],
  ['d', 86_400],
  ['day', 86_400],
  ['days', 86_400],
  ['w', 604_800],
  ['week', 604_800],
  ['weeks', 604_800],
  ['month', 2_629_800],
  ['months', 2_629_800],
  ['y', 31_557_600],
  ['year', 31_557_600],
  ['years', 31_557_600],
])

/**
 * `"2s"`, `"500ms"`, `"1h30m"` in milliseconds, or with the units of the caller in theirs; undefined if it is not a
 * duration.
 */
export const parseDuration = (text: string, units = UNITS): number | undefined => {
  if (!/^(?:\d+(?:\.\d+)?[a-z\u03BC]+)+$/.test(text)) return undefined
  let total = 0
  for (const [, amount, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)([a-z\u03BC]+)/g)) {
    total += Number(amount) * (units.get(unit) ?? Number.NaN)
  }
  return total <= Number.MAX_SAFE_INTEGER ? total : undefined
}

/** A time span as systemd prints it, `1h 3min` or `2 days`, in seconds; undefined if it is none. */
export const parseTimeSpan = (text: string): number | undefined =>
  text.length <= 64 && /^(?:\d+(?:\.\d+)? ?[a-z\u03BC]+(?: |$))+$/.test(text)
    ? parseDuration(text.replaceAll(' ', ''), SYSTEMD_UNITS)
    : undefined

/** For metrics, which have times in seconds; undefined is unknown. */
export const inSeconds = (milliseconds: number | null | undefined): number | undefined =>
  milliseconds === null || milliseconds === undefined ? undefined : milliseconds / second

/** A time of the chain or the kernel, which have seconds since the epoch, in milliseconds; null is unknown. */
export const fromSeconds = (seconds: bigint | null): number | null =>
  seconds === null ? null : Number(seconds) * second

/** Milliseconds as a duration that `parseDuration` parses. */
export const renderDuration = (milliseconds: number): string => {
  if (milliseconds === 0) return '0s'
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (milliseconds % MILLISECONDS[unit] === 0) return `${milliseconds / MILLISECONDS[unit]}${unit}`
  }
  return `${milliseconds}ms`
}

const SIZES: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
}

/** `"500GB"`, `"1.5 TiB"` in bytes; undefined if it is not a size with a unit. */
export const parseBytes = (text: string): number | undefined => {
  const [, amount, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?) ?([A-Za-z]{1,3})$/.exec(text.trim()) ?? []
  const [, factor] = Object.entries(SIZES).find(([name]) => name.toLowerCase() === unit.toLowerCase()) ?? []
  if (amount === undefined || factor === undefined) return undefined
  const bytes = Math.round(Number(amount) * factor)
  return bytes <= Number.MAX_SAFE_INTEGER ? bytes : undefined
}

/** The larger one; null is unknown. */
export const larger = (a: bigint | null, b: bigint): bigint => (a !== null && a > b ? a : b)

/** The smaller one; null is unknown. */
export const smaller = (a: bigint | null, b: bigint): bigint => (a !== null && a < b ? a : b)

/** The sums of the numbers of both, by name. */
export const sumsOf = <Sums extends Readonly<Record<string, number>>>(a: Sums, b: Sums): Sums => ({
  ...a,
  ...Object.fromEntries(Object.entries(b).map(([name, value]) => [name, (a[name] ?? 0) + value])),
})

/** An unsigned 64-bit integer in decimal digits; undefined for anything else and for a sentinel. */
export const parseU64 = (text: string): bigint | undefined =>
  /^\d{1,20}$/.test(text) ? (withinBounds('u64', BigInt(text)) ?? undefined) : undefined
