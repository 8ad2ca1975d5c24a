import type { Answered } from './api.ts'
import type { Rule } from './findings.ts'
import type { Panel, Target } from './model.ts'

interface Fault {
  readonly rule: Rule
  readonly what: string
}

/** The result of a target. */
export interface Answer {
  readonly target: Target
  readonly series: readonly Answered[]
}

/** More lines cannot be distinguished. */
const MOST_SERIES = 50

/** Findings about a result that Grafana would show badly or not at all. */
export const checkAnswer = ({ type }: Pick<Panel, 'type'>, { target, series }: Answer): readonly Fault[] => {
  if (series.length === 0) return [{ rule: 'empty', what: 'it shows nothing: no series answers' }]
  const known = series.filter(hasNumber)
  if (known.length === 0)
    return [{ rule: 'empty', what: `it shows nothing: ${series.length} series, and no number in them` }]
  if (type === 'table') return []
  const found: Fault[] = []
  const lacking = labelsOf(target)
    .map((label) => ({ label, count: known.filter(({ labels }) => !labels[label]).length }))
    .filter(({ count }) => count > 0)
  for (const { label, count } of lacking)
    found.push({
      rule: 'legend',
      what: `its legend asks for ${label}, which ${count} of ${known.length} series lack`,
    })
  const names = known.map((one) => legendOf(target, one))
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (lacking.length === 0 && twice !== undefined)
    found.push({
      rule: 'legend',
      what: `${known.length} series, and several are called "${twice}"`,
    })
  if (type === 'timeseries' && known.length > MOST_SERIES)
    found.push({ rule: 'many', what: `${known.length} lines; expected ${MOST_SERIES} at most` })
  return found
}

/** Series names that two targets of a panel share. */
export const sharedNames = (answers: readonly Answer[]): readonly string[] => {
  const seen = new Map<string, Target>()
  const shared = new Set<string>()
  for (const { target, series } of answers) {
    for (const one of series.filter(hasNumber)) {
      const name = legendOf(target, one)
      const other = seen.get(name)
      if (other !== undefined && other !== target) shared.add(name)
      seen.set(name, target)
    }
  }
  return [...shared]
}

/**
 * Lines that would have Grafana's default colour: neither a pattern, nor their name, nor their target gives them a style.
 */
export const unstyledLines = (panel: Panel, answers: readonly Answer[]): readonly string[] => {
  if (panel.type !== 'timeseries') return []
  const matchers = (panel.fieldConfig?.overrides ?? []).map(({ matcher }) => matcher)
  if (matchers.some(({ id }) => id === 'byRegexp')) return []
  const styled = new Set(matchers.map(({ options }) => options))
  return answers.flatMap(({ target, series }) =>
    series
      .filter(hasNumber)
      .map((one) => legendOf(target, one))
      .filter((name) => !styled.has(name) && !styled.has(target.refId)),
  )
}

const hasNumber = ({ points }: Answered): boolean => points.some(([, value]) => Number.isFinite(value))

const LABEL = /\{\{\s*([\w.]+)\s*\}\}/g

const labelsOf = ({ legendFormat = '' }: Target): readonly string[] =>
  [...legendFormat.matchAll(LABEL)].flatMap(([, label]) => (label === undefined ? [] : [label]))

/** The name that Grafana's data source gives to a series: a missing label is empty (in an annotation it is the name of the label). */
const legendOf = ({ legendFormat = '' }: Target, { labels }: Answered): string =>
  legendFormat === '' || legendFormat === '__auto'
    ? Object.entries(labels)
        .map(([label, value]) => `${label}="${value}"`)
        .toSorted()
        .join(', ')
    : legendFormat.replaceAll(LABEL, (_whole, label: string) => labels[label] ?? '')
