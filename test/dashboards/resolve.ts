import type { Span } from '../support/prometheus.ts'
import type { Api } from './engine.ts'
import { type Dashboard, type Panel, queryOf, type Target, type Variable } from './model.ts'

/** The current value of a variable. */
export interface Chosen {
  readonly values: readonly string[]
  /** Whether several values can be selected: then they are inserted as a regular expression. */
  readonly isMany: boolean
  /** The custom value of "All" is inserted verbatim. */
  readonly verbatim?: string
}

export interface Scene {
  readonly now: number
  readonly span: Span
  readonly variables: ReadonlyMap<string, Chosen>
}

/** A target as Grafana sends it. */
export interface Sent {
  readonly expr: string
  readonly kind: 'instant' | 'range'
  readonly step: number
  readonly span: Span
}

/** Scrape interval in seconds, as configured in the data source. */
const SCRAPE = 30
/** Width of a dashboard in pixels: the number of points of a panel of full width. */
const PIXELS = 1500
const COLUMNS = 24

interface Choice {
  readonly now: number
  /** Variable → value. Default: all values, or the first, as defined by the dashboard. */
  readonly choose?: Readonly<Record<string, string>>
}

/** Queries the values of the variables in order, since later ones may depend on earlier ones. */
export const openScene = async (
  { time, templating }: Dashboard,
  api: Pick<Api, 'labelValues'>,
  { now, choose = {} }: Choice,
): Promise<Scene> => {
  const span = { from: moment(time.from, now), to: moment(time.to, now) }
  const variables = new Map<string, Chosen>()
  for (const variable of templating.list) {
    const scene = { now, span, variables }
    const chosen = choose[variable.name]
    variables.set(
      variable.name,
      chosen === undefined ? await chooseAll(variable, scene, api) : { values: [chosen], isMany: isMany(variable) },
    )
  }
  return { now, span, variables }
}

/** The target of a panel as Grafana would send it. An unknown variable stays unchanged. */
export const sent = (scene: Scene, panel: Panel, target: Target): Sent => {
  const { from, to } = scene.span
  const step = Math.max(roundInterval((to - from) / ((PIXELS * panel.gridPos.w) / COLUMNS)), SCRAPE)
  const isInstant = target.instant === true && target.range !== true
  return {
    expr: interpolate(target.expr, scene, step),
    kind: isInstant ? 'instant' : 'range',
    step,
    // Grafana aligns a range to its step, so that a refresh does not move every point.
    span: { from: Math.floor(from / step) * step, to: Math.floor(to / step) * step },
  }
}

const VARIABLE = /\$\{(\w+)\}|\$(\w+)/g

/** Variables without a value in the text to send. */
export const unresolved = (text: string): readonly string[] =>
  [...text.matchAll(VARIABLE)].map(([whole]) => whole).filter((whole) => !/^\$\d+$/.test(whole))

/** Grafana's own variables and those of the dashboard, in PromQL. */
export const interpolate = (text: string, scene: Scene, step: number = SCRAPE): string => {
  const { from, to } = scene.span
  const rate = Math.max(step + SCRAPE, 4 * SCRAPE)
  const builtIn: Readonly<Record<string, string>> = {
    __interval: `${step}s`,
    __rate_interval: `${rate}s`,
    __range: `${to - from}s`,
  }
  return text.replaceAll(VARIABLE, (whole: string, ...groups: readonly (string | undefined)[]) => {
    const [braced, plain] = groups
    const name = braced ?? plain ?? ''
    const chosen = scene.variables.get(name)
    return builtIn[name] ?? (chosen ? render(chosen) : whole)
  })
}

const render = ({ values, isMany: many, verbatim }: Chosen): string => {
  if (verbatim !== undefined) return verbatim
  const [only = ''] = values
  if (!many) return only.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\\'`)
  const escaped = values.map((value) => regexEscape(value).replaceAll('\\', '\\\\'))
  return escaped.length === 1 ? escaped.join('') : `(${escaped.join('|')})`
}

const regexEscape = (value: string): string => value.replaceAll(/[\\^$*+?.()|[\]{}/]/g, '\\$&')

const isMany = ({ multi, includeAll }: Variable): boolean => multi || includeAll

const chooseAll = async (variable: Variable, scene: Scene, api: Pick<Api, 'labelValues'>): Promise<Chosen> => {
  const { type, includeAll, allValue } = variable
  if (type === 'datasource') return { values: ['history'], isMany: false }
  const many = isMany(variable)
  const query = interpolate(queryOf(variable), scene)
  const [, match, label] = /^label_values\((.+),\s*(\w+)\)$/s.exec(query) ?? []
  if (label === undefined) throw new Error(`a query of a variable that is not understood: ${query}`)
  const values = (await api.labelValues(label, scene.span, match)).toSorted((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  )
  if (values.length > 0 && includeAll && allValue !== undefined) return { values, isMany: many, verbatim: allValue }
  return { values: many ? values : values.slice(0, 1), isMany: many }
}

/** `now` or `now-6h`. */
const moment = (text: string, now: number): number => {
  const [, hours] = /^now(?:-(\d+)h)?$/.exec(text) ?? []
  if (text !== 'now' && hours === undefined) throw new Error(`not a moment: ${text}`)
  return now - Number(hours ?? 0) * 3600
}

/** Grafana's steps, with the length up to which each is used. */
const STEPS: readonly (readonly [below: number, step: number])[] = [
  [1.5, 1],
  [3.5, 2],
  [7.5, 5],
  [12.5, 10],
  [17.5, 15],
  [25, 20],
  [45, 30],
  [90, 60],
  [210, 120],
  [450, 300],
  [750, 600],
  [1050, 900],
  [1500, 1200],
  [2700, 1800],
  [5400, 3600],
  [9000, 7200],
  [16_200, 10_800],
  [32_400, 21_600],
  [86_400, 43_200],
  [604_800, 86_400],
]

const roundInterval = (length: number): number => STEPS.find(([below]) => length < below)?.[1] ?? 604_800
