import type { Labels } from './series.ts'

export interface TemplateData {
  readonly labels: Labels
  readonly value: number
}

/**
 * An annotation of a rule: the part of Prometheus' templates that the rules use. `humanizeDuration` is that of Prometheus,
 * or another format of seconds.
 */
export const renderTemplate = (template: string, data: TemplateData, ofSeconds = humanizeDuration): string =>
  template
    .replaceAll(/\{\{ with \$labels\.(\w+) \}\}(.*?)\{\{ end \}\}/gs, (_whole, label: string, text: string) => {
      const value = data.labels[label] ?? ''
      return value === '' ? '' : text.replaceAll('{{ . }}', () => value)
    })
    .replaceAll(/\{\{ if gt \$value 0\.0 \}\}(.*?)\{\{ else \}\}(.*?)\{\{ end \}\}/gs, data.value > 0 ? '$1' : '$2')
    .replaceAll(/\{\{\s*(.+?)\s*\}\}/gs, (whole, expression: string) => {
      const label = /^\$labels\.(\w+)$/.exec(expression)?.[1]
      if (label !== undefined) return data.labels[label] ?? ''
      if (expression === '$value') return String(data.value)
      const digits = /^(?:\$value\s*\|\s*printf "%\.(\d)f"|printf "%\.(\d)f" \$value)$/.exec(expression)
      if (digits) return fixed(data.value, Number(digits[1] ?? digits[2]))
      const name = /^\$value\s*\|\s*(\w+)$/.exec(expression)?.[1] ?? ''
      const format = name === 'humanizeDuration' ? ofSeconds : FORMATS[name]
      return format ? format(data.value) : whole
    })

/** As `%.0f` in Go, which rounds a half to the even digit. */
const fixed = (value: number, digits: number): string => {
  const shifted = value * 10 ** digits
  const isHalf = Math.abs(shifted % 1) === 0.5
  return (isHalf ? (2 * Math.round(shifted / 2)) / 10 ** digits : value).toFixed(digits)
}

/** As `%.4g` in Go. */
const significant = (value: number): string =>
  Math.abs(value) >= 10_000
    ? value
        .toExponential(3)
        .replace(/\.?0+e/, 'e')
        .replace(/e\+(\d)$/, 'e+0$1')
    : String(Number(value.toPrecision(4)))

const scaled =
  (step: number, large: readonly string[], small: readonly string[]) =>
  (value: number): string => {
    let scaledValue = value
    let prefix = ''
    const prefixes = Math.abs(value) >= 1 ? large : small
    for (const next of value === 0 ? [] : prefixes) {
      if (large === prefixes ? Math.abs(scaledValue) < step : Math.abs(scaledValue) >= 1) break
      scaledValue = large === prefixes ? scaledValue / step : scaledValue * step
      prefix = next
    }
    return `${significant(scaledValue)}${prefix}`
  }

const humanize = scaled(1000, ['k', 'M', 'G', 'T', 'P'], ['m', 'u', 'n', 'p'])

/** Seconds as in Prometheus: `3m 40s`. */
export const humanizeDuration = (value: number): string => {
  if (value === 0 || Math.abs(value) < 1) return `${humanize(value)}s`
  const whole = Math.trunc(Math.abs(value))
  const sign = value < 0 ? '-' : ''
  const [seconds, minutes, hours, days] = [
    whole % 60,
    Math.floor(whole / 60) % 60,
    Math.floor(whole / 3600) % 24,
    Math.floor(whole / 86_400),
  ]
  if (days > 0) return `${sign}${days}d ${hours}h ${minutes}m ${seconds}s`
  if (hours > 0) return `${sign}${hours}h ${minutes}m ${seconds}s`
  return minutes > 0 ? `${sign}${minutes}m ${seconds}s` : `${significant(value)}s`
}

const FORMATS: Readonly<Record<string, (value: number) => string>> = {
  humanize,
  humanize1024: scaled(1024, ['ki', 'Mi', 'Gi', 'Ti', 'Pi'], []),
  humanizePercentage: (value) => `${significant(value * 100)}%`,
}
