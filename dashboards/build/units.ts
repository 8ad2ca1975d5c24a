/** Grafana's names of the units in use. `locale` is a number with thousands separators: heights, counts. */
export type Unit =
  | 's'
  | 'bytes'
  | 'percentunit'
  | 'locale'
  | 'celsius'
  | 'reqps'
  | 'dateTimeFromNow'
  | 'none'
  | 'Bps'
  | `si:${string}`
  | `suffix:${string}`

/** A limit as text. */
export const inWords = (value: number, unit: Unit): string => {
  if (unit === 'percentunit') return `${round(value * 100)} %`
  if (unit === 's') return duration(value)
  if (unit === 'celsius') return `${value} °C`
  if (unit === 'locale' || unit === 'none') return value.toLocaleString('en-US')
  if (unit.startsWith('suffix:')) return `${value} ${unit.slice('suffix:'.length)}`
  throw new Error(`no words yet for limits in ${unit}`)
}

const round = (value: number): number => Number(value.toPrecision(6))

const duration = (seconds: number): string => {
  if (seconds >= 172_800) return `${round(seconds / 86_400)} days`
  if (seconds >= 7200) return `${round(seconds / 3600)} h`
  if (seconds >= 120) return `${round(seconds / 60)} min`
  if (seconds < 1) return `${round(seconds * 1000)} ms`
  return `${seconds} s`
}
