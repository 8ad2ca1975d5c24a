import type { Api, Span } from './api.ts'
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
  api: Api,
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
  const pixels = panel.maxDataPoints ?? (PIXELS * panel.gridPos.w) / COLUMNS
  const least = panel.interval ?? target.interval
  const step = Math.max(
    roundInterval((to - from) / pixels),
    least === undefined ? SCRAPE : seconds(interpolate(least, scene)),
  )
  const isInstant = target.instant === true && target.range !== true
  return {
    expr: interpolate(target.expr, scene, step),
    kind: isInstant ? 'instant' : 'range',
    step,
    // Grafana aligns a range to its step, so that a refresh does not move every point.
    span: { from: Math.floor(from / step) * step, to: Math.floor(to / step) * step },
  }
}

const VARIABLE = /\$\{(\w+)(?::(\w+))?\}|\$(\w+)|\[\[(\w+)(?::(\w+))?\]\]/g

/** Variables without a value in the text to send. */
export const unresolved = (text: string): readonly string[] =>
  [...text.matchAll(VARIABLE)].map(([whole]) => whole).filter((whole) => !/^\$\d+$/.test(whole))

/** Grafana's own variables and those of the dashboard, in PromQL. */
export const interpolate = (text: string, scene: Scene, step: number = SCRAPE): string => {
  const { from, to } = scene.span
  const rate = Math.max(step + SCRAPE, 4 * SCRAPE)
  const builtIn: Readonly<Record<string, string>> = {
    __interval: `${step}s`,
    __interval_ms: String(step * 1000),
    __rate_interval: `${rate}s`,
    __rate_interval_ms: String(rate * 1000),
    __range: `${to - from}s`,
    __range_s: String(to - from),
    __range_ms: String((to - from) * 1000),
    __from: String(from * 1000),
    __to: String(to * 1000),
  }
  return text.replaceAll(VARIABLE, (whole: string, ...groups: readonly (string | undefined)[]) => {
    const [braced, bracedFormat, plain, old, oldFormat] = groups
    const name = braced ?? plain ?? old ?? ''
    const value = builtIn[name]
    if (value !== undefined) return value
    const chosen = scene.variables.get(name)
    return chosen ? render(chosen, bracedFormat ?? oldFormat) : whole
  })
}

const render = ({ values, isMany: many, verbatim }: Chosen, format?: string): string => {
  if (verbatim !== undefined) return verbatim
  if (format === 'raw' || format === 'csv' || format === 'queryparam') return values.join(',')
  if (format === 'pipe') return values.join('|')
  if (format === 'regex') return values.map(regexEscape).join('|')
  const [only = ''] = values
  if (!many) return only.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\\'`)
  const escaped = values.map((value) => regexEscape(value).replaceAll('\\', '\\\\'))
  return escaped.length === 1 ? escaped.join('') : `(${escaped.join('|')})`
}

const regexEscape = (value: string): string => value.replaceAll(/[\\^$*+?.()|[\]{}/]/g, '\\$&')

const isMany = ({ multi = false, includeAll = false }: Variable): boolean => multi || includeAll

const chooseAll = async (variable: Variable, scene: Scene, api: Api): Promise<Chosen> => {
  const { type, includeAll = false, allValue } = variable
  const many = isMany(variable)
  const query = queryOf(variable)
  if (type === 'datasource') return { values: ['history'], isMany: false }
  if (type === 'constant' || type === 'textbox') return { values: [query], isMany: false }
  if (type === 'custom' || type === 'interval') {
    const values = query.split(',').map((text) => text.trim().split(' : ').at(-1) ?? '')
    return { values: many ? values : values.slice(0, 1), isMany: many }
  }
  const found = await valuesOf(interpolate(query, scene), scene, api)
  const values = [...new Set(filtered(found, variable.regex ?? ''))].toSorted((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  )
  if (values.length > 0 && includeAll && allValue !== undefined) return { values, isMany: many, verbatim: allValue }
  return { values: many ? values : values.slice(0, 1), isMany: many }
}

const valuesOf = async (query: string, scene: Scene, api: Api): Promise<readonly string[]> => {
  const [, match, label] = /^label_values\((?:(.+),\s*)?(\w+)\)$/s.exec(query.trim()) ?? []
  if (label !== undefined) return api.labelValues(label, scene.span, match)
  const [, expression] = /^query_result\((.+)\)$/s.exec(query.trim()) ?? []
  if (expression === undefined) throw new Error(`a query of a variable that is not understood: ${query}`)
  const series = await api.instant(expression, scene.now)
  return series.map(({ labels: { __name__: name = '', ...labels }, points }) => {
    const pairs = Object.entries(labels).map(([key, value]) => `${key}="${value}"`)
    return `${name}{${pairs.join(',')}} ${points[0]?.[1] ?? ''} ${scene.now * 1000}`
  })
}

/** For each value the capture group of the pattern, or the complete match. */
const filtered = (values: readonly string[], pattern: string): readonly string[] => {
  if (pattern === '') return values
  const [, body = pattern, flags = ''] = /^\/(.*)\/(\w*)$/s.exec(pattern) ?? []
  const expression = new RegExp(body, flags.replace('g', ''))
  return values.flatMap((value) => {
    const match = expression.exec(value)
    return match ? [match.groups?.['value'] ?? match[1] ?? match[0]] : []
  })
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
  M: 2_592_000,
  y: 31_536_000,
}

const seconds = (duration: string): number => {
  const [, count, unit = ''] = /^(\d+)([smhdwMy])$/.exec(duration) ?? []
  const length = UNITS[unit]
  if (length === undefined) throw new Error(`not a duration: ${duration}`)
  return Number(count) * length
}

/** `now` or `now-6h`. */
const moment = (text: string, now: number): number => {
  const [, ago] = /^now(?:-(\w+))?$/.exec(text) ?? []
  if (text !== 'now' && ago === undefined) throw new Error(`not a moment: ${text}`)
  return ago === undefined ? now : now - seconds(ago)
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
