import { type Answered, type Api, QueryError } from './api.ts'
import { type Finding, finding } from './findings.ts'
import { type Answer, checkAnswer, sharedNames, unstyledLines } from './check-answer.ts'
import { type Annotation, type Dashboard, type Panel, panelsOf, titleOf } from './model.ts'
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
  query: () => Promise<readonly Answered[]>,
): Promise<{ readonly series: readonly Answered[] } | { readonly refused: Finding }> => {
  const [left] = unresolved(expr)
  if (left !== undefined)
    return {
      refused: finding('query', where, `the variable ${left} is not defined; expected one that is`),
    }
  try {
    return { series: await query() }
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    return { refused: finding('query', where, `Prometheus refuses it: ${error.message}`) }
  }
}
