import { RENAMED, RENAMED_LABELS, RENAMED_METRICS } from './renamed.ts'
import { splitAddress } from './rule.ts'

/** A name or a matcher of version 0.2.0 in a text. */
export interface RenamedUse {
  /** From 1. */
  readonly line: number
  readonly old: string
  /**
   * The address of the row, the matcher, or the metric; null for an alert that is a panel of the dashboards now, and for a
   * metric that nothing replaces.
   */
  readonly now: string | null
  /** The matchers of Alertmanager to write instead; null if there are none, as for a metric. */
  readonly matchers: string | null
}

/** Such as "ChainAssertion is ChainLogTrouble.aborted now". */
export const describeRenamed = ({ old, now }: Pick<RenamedUse, 'old' | 'now'>): string => {
  if (now !== null) return `${old} is ${now} now`
  return isRenamed(old) ? `${old} is a panel of the dashboards now` : `${old} is not exported any more`
}

/** What a text of any format, such as a configuration, a silence or a dashboard, names of version 0.2.0, by line. */
export const findRenamed = (text: string): readonly RenamedUse[] => {
  const lines = text.split('\n')
  const names = lines.flatMap((line, index) =>
    [...new Set([...namesIn(line), ...patternsIn(line).flatMap(namesOf)])].map((old) => useOf(old, index + 1)),
  )
  const metrics = lines.flatMap((line, index) => metricsIn(line).map((metric) => ({ ...metric, line: index + 1 })))
  return [...names, ...labelsIn(text), ...metrics].toSorted((a, b) => a.line - b.line)
}

const isRenamed = (name: string): boolean => Object.hasOwn(RENAMED, name)

const namesIn = (line: string): readonly string[] => (line.match(/\bChain\w+/g) ?? []).filter(isRenamed)

/** Regular expressions with more than names, such as `Chain(Assertion|WalStopped)`. */
const patternsIn = (line: string): readonly RegExp[] =>
  (line.match(/\bChain[\w|().?*+:]*[(.?*+][\w|().?*+:]*/g) ?? [])
    // A repeated group could take exponential time.
    .filter((pattern) => pattern.length <= 1000 && !/\)[*+]/.test(pattern))
    .flatMap((pattern) => {
      try {
        return [new RegExp(`^(?:${pattern})$`)]
      } catch {
        return []
      }
    })

/** The old names that a pattern accepts, without those whose new name it accepts as well. */
const namesOf = (pattern: RegExp): readonly string[] =>
  Object.entries(RENAMED).flatMap(([old, now]) => {
    const isKept = now === null ? /[*+]/.test(pattern.source) : pattern.test(splitAddress(now).alert)
    return pattern.test(old) && !isKept ? [old] : []
  })

const useOf = (old: string, line: number): RenamedUse => {
  const now = RENAMED[old] ?? null
  if (now === null) return { line, old, now, matchers: null }
  const { alert, why } = splitAddress(now)
  return { line, old, now, matchers: `alertname="${alert}"${why === undefined ? '' : `, why="${why}"`}` }
}

const LABELS = Object.keys(RENAMED_LABELS).join('|')
/** `reading="key files"`, also with escaped quotes; `reading: key files` of YAML; a matcher of a silence as JSON. */
const MATCHERS = [
  String.raw`\b(?<label>${LABELS})\\?["']?[ \t]*(?<operator>=~|!~|!=|=|:)[ \t]*\\?["']?(?<value>[^"',\\\]}\n]+)`,
  String.raw`"isEqual"\s*:\s*(?<isEqual>\w+)\s*,\s*"isRegex"\s*:\s*(?<isRegex>\w+)\s*,\s*"name"\s*:\s*"(?<label>${LABELS})"\s*,\s*"value"\s*:\s*"(?<value>[^"]*)"`,
].map((source) => new RegExp(source, 'g'))

/** Matchers on labels that have another name now, in a text that names one of the alerts that had them. */
const labelsIn = (text: string): readonly RenamedUse[] =>
  MATCHERS.flatMap((matcher) =>
    [...text.matchAll(matcher)].flatMap(({ index, groups = {} }) => {
      const { label = '', isEqual, isRegex, value = '' } = groups
      const {
        operator = `${isEqual === 'false' ? '!' : isRegex === 'true' ? '=' : ''}${isRegex === 'true' ? '~' : '='}`,
      } = groups
      const { alerts = [], values = {} } = RENAMED_LABELS[label] ?? {}
      const old = value.trim()
      const now = old.replaceAll(/[^|]+/g, (one) => values[one] ?? one)
      if (now === old && (label === 'why' || !old.split('|').some((one) => one in values))) return []
      if (!alerts.some((alert) => new RegExp(String.raw`\b${alert}\b`).test(text))) return []
      const written = operator === ':' ? (old.includes('|') ? '=~' : '=') : operator
      const matchers = `why${written}"${now}"`
      return [
        { line: text.slice(0, index).split('\n').length, old: `${label}${written}"${old}"`, now: matchers, matchers },
      ]
    }),
  )

/** A name, or a selector with the label: `chain_a_total{b="c"}`, `chain_a_total{b=~"c|d"}`, also with escaped quotes. */
const patternOf = (metric: string): RegExp => {
  const [name = '', label, value = ''] = metric.match(/[\w.]+/g) ?? []
  const selector = String.raw`\{[^}]*\b${label}\s*=~?\s*\\?["'](?:[^"'\\]*\|)?${value.replace('.', '\\.')}[|\\"']`
  return new RegExp(String.raw`(?<![\w:])${name}${label === undefined ? String.raw`(?![\w:])` : selector}`)
}

const METRICS = Object.entries(RENAMED_METRICS).map(([old, now]) => ({
  old,
  now,
  pattern: patternOf(old),
  /** What only the new name has. */
  added: (now?.match(/[\w:]{5,}/g) ?? []).filter((word) => !old.includes(word)),
}))

/** A line with the new name as well is a query for both versions. */
const metricsIn = (line: string): readonly Omit<RenamedUse, 'line'>[] =>
  line.includes('chain_')
    ? METRICS.filter(({ pattern, added }) => pattern.test(line) && !added.some((word) => line.includes(word))).map(
        ({ old, now }) => ({ old, now, matchers: null }),
      )
    : []
