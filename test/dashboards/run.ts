import { type QueriedSeries, QueryError } from '../support/prometheus.ts'
import type { Api } from './engine.ts'
import { type Finding, finding, type Rule } from './findings.ts'
import { type Annotation, type Dashboard, type Panel, panelsOf, titleOf, type Target } from './model.ts'
import { interpolate, openScene, type Scene, sent, unresolved } from './resolve.ts'

interface Run {
  readonly name: string
  readonly dashboard: Dashboard
  readonly api: Api
  readonly now: number
  /** Variable → value. Default: all values, or the first. */
  readonly choose?: Readonly<Record<string, string>>
  /** Queries only these targets and annotations, by the start of their finding location. Default: all. */
  readonly only?: (where: string) => boolean
}

const ANNOTATION_STEP = 60

/** Sends all queries of the dashboard to a real Prometheus, and returns findings about the answers. */
export const runDashboard = async (run: Run): Promise<readonly Finding[]> => {
  const { name, dashboard, api } = run
  const scene = await openScene(dashboard, api, run)
  const found: Finding[] = []
  for (const [variable, { values }] of scene.variables) {
    if (values.length === 0)
      found.push(finding('empty', `${name}, variable "${variable}"`, 'it has no values to choose'))
  }
  const runs = [
    ...dashboard.annotations.list.map((annotation) => runAnnotation(annotation, scene, run)),
    ...panelsOf(dashboard).map((panel) => runPanel(panel, scene, run)),
  ]
  return [...found, ...(await Promise.all(runs)).flat()]
}

const runPanel = async (panel: Panel, scene: Scene, { name, api, only }: Run): Promise<readonly Finding[]> => {
  const where = `${name}, panel ${titleOf(panel)}`
  const found: Finding[] = []
  const answers: Answer[] = []
  for (const target of panel.targets ?? []) {
    const place = `${where}, target ${target.refId}`
    if (only?.(place) === false) continue
    const { expr, kind, span, step } = sent(scene, panel, target)
    const answer = await ask(place, expr, () =>
      kind === 'instant' ? api.instant(expr, scene.now) : api.range(expr, { ...span, step }),
    )
    if ('refused' in answer) {
      found.push(answer.refused)
      continue
    }
    answers.push({ target, series: answer.series })
    for (const { rule, what } of checkAnswer(panel, { target, series: answer.series }))
      found.push(finding(rule, place, what))
  }
  if (panel.type === 'table') return found
  for (const shared of sharedNames(answers))
    found.push(finding('legend', where, `two of its targets give a series called "${shared}"`))
  for (const line of unstyledLines(panel, answers))
    found.push(finding('style', where, `its line "${line}" has no colour; expected its name among the overrides`))
  return found
}

const runAnnotation = async (
  { name: title, expr, titleFormat, textFormat }: Annotation,
  scene: Scene,
  { name, api, only }: Run,
): Promise<readonly Finding[]> => {
  const where = `${name}, annotation "${title}"`
  if (only?.(where) === false) return []
  const text = interpolate(expr, scene)
  const answer = await ask(where, text, () => api.range(text, { ...scene.span, step: ANNOTATION_STEP }))
  if ('refused' in answer) return [answer.refused]
  return (
    [titleFormat, textFormat]
      .flatMap((legendFormat) =>
        checkAnswer({ type: 'timeseries' }, { target: { refId: '', expr: '', legendFormat }, series: answer.series }),
      )
      .filter(({ what }, index, all) => all.findIndex((other) => other.what === what) === index)
      // An annotation may have equal names, and many series.
      .filter(({ rule, what }) => rule !== 'many' && !what.includes('several are called'))
      .map(({ rule, what }) => finding(rule, where, what))
  )
}

const ask = async (
  where: string,
  expr: string,
  query: () => Promise<readonly QueriedSeries[]>,
): Promise<{ readonly series: readonly QueriedSeries[] } | { readonly refused: Finding }> => {
  const [left] = unresolved(expr)
  if (left !== undefined)
    return { refused: finding('query', where, `the variable ${left} is not defined; expected one that is`) }
  try {
    return { series: await query() }
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    return { refused: finding('query', where, `Prometheus refuses it: ${error.message}`) }
  }
}

interface Fault {
  readonly rule: Rule
  readonly what: string
}

/** The result of a target. */
interface Answer {
  readonly target: Target
  readonly series: readonly QueriedSeries[]
}

/** More lines cannot be distinguished. */
const MOST_SERIES = 50

/** Findings about a result that Grafana would show badly or not at all. */
const checkAnswer = ({ type }: Pick<Panel, 'type'>, { target, series }: Answer): readonly Fault[] => {
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
    found.push({ rule: 'legend', what: `${known.length} series, and several are called "${twice}"` })
  if (type === 'timeseries' && known.length > MOST_SERIES)
    found.push({ rule: 'many', what: `${known.length} lines; expected ${MOST_SERIES} at most` })
  return found
}

/** Series names that two targets of a panel share. */
const sharedNames = (answers: readonly Answer[]): readonly string[] => {
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
const unstyledLines = (panel: Panel, answers: readonly Answer[]): readonly string[] => {
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

const hasNumber = ({ points }: QueriedSeries): boolean => points.some(([, value]) => Number.isFinite(value))

const LABEL = /\{\{\s*([\w.]+)\s*\}\}/g

const labelsOf = ({ legendFormat = '' }: Target): readonly string[] =>
  [...legendFormat.matchAll(LABEL)].flatMap(([, label]) => (label === undefined ? [] : [label]))

/** The name that Grafana's data source gives to a series: a missing label is empty (in an annotation it is the name of the label). */
const legendOf = ({ legendFormat = '' }: Target, { labels }: QueriedSeries): string =>
  legendFormat === '' || legendFormat === '__auto'
    ? Object.entries(labels)
        .map(([label, value]) => `${label}="${value}"`)
        .toSorted()
        .join(', ')
    : legendFormat.replaceAll(LABEL, (_whole, label: string) => labels[label] ?? '')
