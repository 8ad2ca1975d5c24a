const MILLISECONDS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const
const UNITS = new Map<string, number>(Object.entries(MILLISECONDS))

export const second = MILLISECONDS.s
export const minute = MILLISECONDS.m
export const hour = MILLISECONDS.h
export const day = MILLISECONDS.d

/** `"2s"`, `"500ms"`, `"1h30m"` in milliseconds; undefined if it is not a duration. */
export const parseDuration = (text: string): number | undefined => {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined
  let total = 0
  for (const [, amount, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (UNITS.get(unit) ?? 0)
  }
  return total <= Number.MAX_SAFE_INTEGER ? total : undefined
}

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

/** The node's sentinel for "never set": 2^64 − 1. It means unknown. */
export const SENTINEL = 2n ** 64n - 1n

/** An unsigned 64-bit integer in decimal digits; undefined for anything else and for the sentinel. */
export const parseU64 = (text: string): bigint | undefined => {
  if (!/^\d{1,20}$/.test(text)) return undefined
  const value = BigInt(text)
  return value < SENTINEL ? value : undefined
}
