import { ParseError } from '../core/errors.ts'

/**
 * Prometheus' text format 0.0.4, and OpenMetrics as far as both say the same. A reader of our own:
 * those on npm throw the whole answer away for one line, and keep values as text.
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
  /** A double, as in Prometheus itself: may be infinite or no number. */
  readonly value: number
  /** When the value was taken, in milliseconds since the epoch, where the line tells. */
  readonly timestampMs: number | null
}

const WHAT = 'metrics in the text format of Prometheus'
/** A node tells some 300 KB at most. */
const LONGEST = 4 * 1024 * 1024

/**
 * All samples of an answer. An empty answer is one without samples. Throws a ParseError for what is
 * not of the format at all: a page of HTML, JSON, or a text without end.
 */
export const parsePrometheusText = (text: string): Exposition => {
  if (text.length > LONGEST) throw new ParseError(WHAT, '4 MiB at most', text.slice(0, 1000))
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  // Every line ends with a line feed: the last one without is cut, maybe in the middle of its value.
  const last = (lines.pop() ?? '').trim()
  const isOpenMetrics = [last, lines.at(-1)?.trim()].includes('# EOF')
  const samples: PrometheusSample[] = []
  const unknown = last === '' || last.startsWith('#') ? [] : [last]
  for (const line of lines) {
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

// Sticky, so that a line is read from left to right once: a label may hold any sign, braces too.
const NAME = /([a-zA-Z_:][\w:]*)[ \t]*(\{?)/y
const LABEL = /[ \t]*([a-zA-Z_]\w*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(,?)/y
const CLOSED = /[ \t]*\}/y
/** Value and time; what follows behind # is an exemplar of OpenMetrics. */
const REST =
  /[ \t]*([^\s#]+)(?:[ \t]+(-?\d{1,16}(?:\.\d{1,16})?(?:[eE][-+]?\d{1,2})?))?(?:[ \t]+#[ \t].*)?$/y

const parseSample = (line: string, isOpenMetrics: boolean): PrometheusSample | null => {
  NAME.lastIndex = 0
  const [, name, brace] = NAME.exec(line) ?? []
  if (name === undefined) return null
  let at = NAME.lastIndex
  const labels: [string, string][] = []
  if (brace === '{') {
    for (let goesOn = ','; goesOn === ',';) {
      LABEL.lastIndex = at
      const [, label, value, comma] = LABEL.exec(line) ?? []
      if (label === undefined || value === undefined) break
      goesOn = comma ?? ''
      labels.push([label, value.includes('\\') ? unescape(value) : value])
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
  // fromEntries makes a property even of __proto__.
  return { name, labels: Object.fromEntries(labels), value, timestampMs }
}

const unescape = (text: string): string =>
  text.replaceAll(/\\([\\"n])/g, (_, sign: string) => (sign === 'n' ? '\n' : sign))

const DECIMAL = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/
const NOT_FINITE = /^([-+]?)(?:(inf(?:inity)?)|nan)$/i

const readNumber = (text: string): number | undefined => {
  if (DECIMAL.test(text)) return Number(text)
  const [whole, sign, infinite] = NOT_FINITE.exec(text) ?? []
  if (whole === undefined) return undefined
  if (infinite === undefined) return Number.NaN
  return sign === '-' ? -Infinity : Infinity
}

/** Milliseconds in the text format, seconds in OpenMetrics; those with a fraction are seconds anywhere. */
const readTime = (text: string, isOpenMetrics: boolean): number =>
  isOpenMetrics || !/^-?\d+$/.test(text) ? Math.round(Number(text) * 1000) : Number(text)
