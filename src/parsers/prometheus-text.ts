import { pastTime } from '../core/bounds.ts'
import { ParseError } from '../core/errors.ts'
import { withoutMinus } from '../core/json.ts'
import { LIMITS } from '../core/limits.ts'

/**
 * The Prometheus text format 0.0.4, and OpenMetrics where both are the same. The parsers on npm reject the complete
 * input for one invalid line and keep values as text.
 */
export interface Exposition {
  readonly samples: readonly PrometheusSample[]
  /** Lines that are neither comments nor samples. */
  readonly unknownLines: number
  /** The first of them. */
  readonly firstUnknown: string | null
}

export interface PrometheusSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** A double, as in Prometheus: may be infinite or NaN. */
  readonly value: number
  /** The timestamp of the sample in milliseconds since the epoch; null if the line has none. */
  readonly timestampMs: number | null
}

const WHAT = 'metrics in the text format of Prometheus'

/**
 * Parses all samples. An empty text has no samples. Throws a ParseError for a text of another format, such as HTML or
 * JSON, and for a text that is too long.
 */
export const parsePrometheusText = (text: string): Exposition => {
  const { length, lineLength, lines: mostLines } = LIMITS.exposition
  if (text.length > length) throw new ParseError(WHAT, `${length} characters at most`, text.slice(0, 1000))
  const lines = text.replace(/^\uFEFF/, '').split('\n', mostLines + 1)
  if (lines.length > mostLines) throw new ParseError(WHAT, `${mostLines} lines at most`, text.slice(0, 1000))
  // Every line ends with a line feed. A last line without one is truncated, perhaps within its value.
  const last = (lines.pop() ?? '').trim()
  const isOpenMetrics = [last, lines.at(-1)?.trim()].includes('# EOF')
  const samples: PrometheusSample[] = []
  const unknown = last === '' || last.startsWith('#') ? [] : [last]
  for (const line of lines) {
    if (line.length > lineLength) throw new ParseError(WHAT, `lines of ${lineLength} characters at most`, line)
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    const sample = parseSample(trimmed, isOpenMetrics)
    if (sample) samples.push(sample)
    else unknown.push(trimmed)
  }
  const firstUnknown = unknown[0] ?? null
  if (firstUnknown !== null && samples.length === 0) {
    throw new ParseError(WHAT, 'lines of a name, labels and a value', text.slice(0, 1000))
  }
  return { samples, unknownLines: unknown.length, firstUnknown }
}

/** Without timestamps that are later than now: they do not show that a sample is current. */
export const withoutFutureTimes = (samples: readonly PrometheusSample[], now: number): readonly PrometheusSample[] =>
  samples.map((one) =>
    one.timestampMs === null || one.timestampMs <= now ? one : { ...one, timestampMs: pastTime(one.timestampMs, now) },
  )

// Sticky, so that a line is scanned from left to right once: a label value may contain any character, including braces.
const NAME = /([a-zA-Z_:][\w:]*)[ \t]*(\{?)/y
/** A name with other characters is in the braces: `{"a.b",label="x"}`. */
const QUOTED_NAME = /\{[ \t]*"((?:[^"\\]|\\.)+)"[ \t]*(,?)/y
const LABEL = /[ \t]*(?:([a-zA-Z_]\w*)|"((?:[^"\\]|\\.)+)")[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(,?)/y
const CLOSED = /[ \t]*\}/y
/** Value and timestamp; text after # is an OpenMetrics exemplar. */
const REST = /[ \t]*([^\s#]+)(?:[ \t]+(-?\d{1,16}(?:\.\d{1,16})?(?:[eE][-+]?\d{1,2})?))?(?:[ \t]+#[ \t].*)?$/y

const parseSample = (line: string, isOpenMetrics: boolean): PrometheusSample | null => {
  const head = readName(line)
  if (head === null) return null
  const { name } = head
  let { at, separator } = head
  const labels: [string, string][] = []
  if (separator !== null) {
    while (separator === ',' && labels.length < LIMITS.exposition.labels) {
      LABEL.lastIndex = at
      const [, bare, quoted = '', value, comma = ''] = LABEL.exec(line) ?? []
      if (value === undefined) break
      separator = comma
      labels.push([bare ?? unescape(quoted), unescape(value)])
      at = LABEL.lastIndex
    }
    CLOSED.lastIndex = at
    if (!CLOSED.test(line)) return null
    at = CLOSED.lastIndex
  } else if (!/[ \t]/.test(line.charAt(at - 1))) return null
  REST.lastIndex = at
  const [, number, time] = REST.exec(line) ?? []
  const value = number === undefined ? undefined : readNumber(number)
  if (value === undefined) return null
  const timestampMs = time === undefined ? null : readTime(time, isOpenMetrics)
  // fromEntries creates a property even for `__proto__`.
  return { name, labels: Object.fromEntries(labels), value, timestampMs }
}

/** The name, where the text after it begins, and the separator in front of the next label; null without braces. */
const readName = (line: string): { readonly name: string; at: number; separator: string | null } | null => {
  const pattern = line.startsWith('{') ? QUOTED_NAME : NAME
  pattern.lastIndex = 0
  const [, name, sign = ''] = pattern.exec(line) ?? []
  if (name === undefined) return null
  const at = pattern.lastIndex
  if (pattern === QUOTED_NAME) return { name: unescape(name), at, separator: sign }
  return { name, at, separator: sign === '{' ? ',' : null }
}

/** By pairs of backslashes: a callback for each sign takes three times as long. */
const unescape = (text: string): string =>
  text.includes('\\')
    ? text
        .split('\\\\')
        .map((part) => part.replaceAll('\\n', '\n').replaceAll('\\"', '"'))
        .join('\\')
    : text

const DECIMAL = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/
const NOT_FINITE = /^([-+]?)(?:(inf(?:inity)?)|nan)$/i

const readNumber = (text: string): number | undefined => {
  if (DECIMAL.test(text)) return Number(text)
  const [whole, sign, infinite] = NOT_FINITE.exec(text) ?? []
  if (whole === undefined) return undefined
  if (infinite === undefined) return Number.NaN
  return sign === '-' ? -Infinity : Infinity
}

/**
 * Milliseconds in the text format, seconds in OpenMetrics. A number with a fraction is in seconds in both. Null beyond
 * 2^53.
 */
const readTime = (text: string, isOpenMetrics: boolean): number | null => {
  const time = isOpenMetrics || !/^-?\d+$/.test(text) ? Math.round(Number(text) * 1000) : Number(text)
  return Number.isSafeInteger(time) ? withoutMinus(time) : null
}
