import { day, hour, minute, second } from './units.ts'

/**
 * A number with thousands separators and at most three decimals: `61,240,118`. A string is a 64-bit integer in decimal
 * digits. Not toLocaleString, which loads 7 MiB of data about languages.
 */
export const figure = (value: number | bigint | string): string => {
  const digits = typeof value !== 'number' || Number.isInteger(value) ? String(BigInt(value)) : decimalsOf(value)
  const [whole = '', ...decimals] = digits.split('.')
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','), ...decimals].join('.')
}

/** Rounds the decimal digits, of which `0.1855` has other ones than the binary number. */
const decimalsOf = (value: number): string => {
  const size = Math.abs(value)
  if (!Number.isFinite(value)) return String(value)
  const thousandths = size < 0.0005 ? 0 : Math.round(Number(`${size}e3`))
  return `${value < 0 && thousandths > 0 ? '-' : ''}${thousandths / 1000}`
}

const SIZES = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** Bytes in powers of two: `24.30 GiB`. The next unit begins at 0.9 of it, as in the output of the storage tool. */
export const size = (bytes: number): string => {
  const power = Math.max(
    0,
    SIZES.findLastIndex((_, index) => bytes >= 0.9 * 1024 ** index),
  )
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 2)} ${SIZES[power] ?? ''}`
}

const SPANS = [
  [day, 'd'],
  [hour, 'h'],
  [minute, 'min'],
  [second, 's'],
] as const

/** A duration in milliseconds in its largest units, two by default, rounded down: `2 d 5 h`, `3 min 20 s`, `0 s`. */
export const duration = (ms: number, units = 2): string => {
  const first = SPANS.findIndex(([length]) => ms >= length)
  if (first < 0) return '0 s'
  let rest = ms
  const parts = SPANS.slice(first, first + units).flatMap(([length, unit]) => {
    const amount = Math.floor(rest / length)
    rest -= amount * length
    return amount === 0 ? [] : [`${amount} ${unit}`]
  })
  return parts.join(' ')
}

/** A number with its noun: `3 blocks`, `1 block`, `1,234 blocks`. */
export const count = (amount: number | bigint | string, one: string): string =>
  `${figure(amount)} ${one}${String(amount) === '1' ? '' : 's'}`

/** An amount in wei as tokens, rounded down to four decimals: `11,100,000`, `18.25`. */
export const tokens = (wei: bigint): string => {
  const amount = wei < 0n ? -wei : wei
  const parts = amount / 10n ** 14n
  const decimals = (parts % 10_000n).toString().padStart(4, '0').replace(/0+$/, '')
  const text =
    parts === 0n && amount > 0n ? '<0.0001' : `${figure(parts / 10_000n)}${decimals === '' ? '' : `.${decimals}`}`
  return `${wei < 0n ? '-' : ''}${text}`
}

/** RFC 3339 in UTC, to the second. */
export const utc = (at: number): string => new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z')

/** The address of a listener: an IPv6 address is in brackets. */
export const hostAndPort = ({ host, port }: { readonly host: string; readonly port: number }): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Quotes a word for a POSIX shell if necessary. */
export const shellQuote = (word: string): string =>
  /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
/** A duration in milliseconds in its largest unit, so that a sentence does not change every second: `2 min`. */
export const shortDuration = (ms: number): string => duration(ms, 1)

/** `a`, `a and b`, `a, b and c`. */
export const joinList = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`

/** A phrase as the beginning of a sentence. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** A ratio as a percentage, rounded down: 0.959 is 95%, not 96%. */
export const percent = (ratio: number): string => `${Math.floor(ratio * 100)}%`

/** Where `chain` stands for the name prefix: units, tools and directories of the node. */
const PREFIX =
  /(?<![\w-]|\/d\/)chain(?=-(?:bft|execution|rpc|ledger-tail|cruft|mpt|status|keystore|node)\b|-?\*')|(?<=\/(?:home|opt)\/)chain(?=\/)/g

/** A text for operators with the name prefix of the node. */
export const withPrefix = (text: string, prefix: string): string => text.replaceAll(PREFIX, prefix)

/** A percentage with two decimals, as the storage tool prints it; below 1 it is never 100.00. */
export const share = (ratio: number): string => {
  const text = (ratio * 100).toFixed(2)
  return `${ratio < 1 && text === '100.00' ? '99.99' : text}%`
}
