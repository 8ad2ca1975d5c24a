import { type Finding, finding } from './findings.ts'
import { lintExpressions } from './lint/expressions.ts'
import { dashboardSchema, type Dashboard, type Panel, panelsOf, titleOf } from './model.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { RUNBOOKS } from '../alerts/files.ts'
import * as grafanaUnits from '@grafana/grafana-foundation-sdk/units'

/**
 * Findings that need no Prometheus. `dashboards`: name → JSON; `those` of them are checked, the others are only targets
 * of links.
 */
export const lint = (
  dashboards: ReadonlyMap<string, unknown>,
  those: readonly string[] = [...dashboards.keys()],
): readonly Finding[] => {
  const all = [...dashboards.values()].map((json) => landmarkSchema.parse(json))
  return those.flatMap((name) => {
    const dashboard = dashboardSchema.parse(dashboards.get(name))
    return [
      ...lintPanels(name, dashboard),
      ...lintExpressions(name, dashboard),
      ...lintLinks(name, dashboard, all),
      ...lintContrast(name, dashboard),
    ]
  })
}

const RUNBOOK_PAGES = 'https://chain-agent.example/runbooks/'

/** The parts of a dashboard that links refer to. */
const landmarkSchema = z.object({
  uid: z.string(),
  templating: z.object({ list: z.array(z.object({ name: z.string() })) }),
  panels: z.array(z.looseObject({ id: z.number(), panels: z.array(z.object({ id: z.number() })).optional() })),
})
type Landmark = z.output<typeof landmarkSchema>

/** Links must refer to existing dashboards and runbooks. */
const lintLinks = (name: string, dashboard: Dashboard, all: readonly Landmark[]): readonly Finding[] =>
  dashboard.panels
    .flatMap((panel) => (panel.type === 'row' ? [panel, ...panel.panels] : [panel]))
    .flatMap((panel) => urlsIn(panel).map((url) => ({ where: `${name}, panel "${panel.title ?? ''}"`, url })))
    .concat(urlsIn(dashboard.links).map((url) => ({ where: name, url })))
    .flatMap(({ where, url }) => {
      const what = faultOf(url, all)
      return what === null ? [] : [finding('link', where, `link ${url} ${what}`)]
    })

/** URLs of links and in Markdown; for a row without those of its panels. */
const urlsIn = (value: unknown, key = ''): readonly string[] => {
  if (typeof value === 'string') {
    if (key === 'url') return value === '' ? [] : [value]
    if (key !== 'description' && key !== 'content') return []
    return [...value.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, url]) => (url === undefined ? [] : [url]))
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([inner, part]) =>
    inner === 'panels' ? [] : urlsIn(part, Array.isArray(value) ? key : inner),
  )
}

/** A link that depends on the clicked row: the page is in the data. Every alert has one. */
const OF_THE_ROW = /^\$\{__(?:value\.(?:raw|text)|data\.fields\.alertname)\}$/

const faultOf = (url: string, all: readonly Landmark[]): string | null => {
  if (url.startsWith(RUNBOOK_PAGES)) {
    const [page = ''] = url.slice(RUNBOOK_PAGES.length).split(/[#?]/)
    // The runbook of the alert in the clicked cell; the tests of the rules check that each exists.
    if (page === '${__value.raw}') return null
    if (OF_THE_ROW.test(page)) return null
    return existsSync(join(RUNBOOKS, `${page}.md`)) ? null : 'leads to a runbook that there is not'
  }
  const [, uid, query = ''] = /^\/d\/([\w-]+)(?:\/[\w-]*)?(?:\?(.*))?$/s.exec(url) ?? []
  if (uid === undefined) return 'leads neither to a dashboard of ours nor to a runbook'
  const target = all.find((other) => other.uid === uid)
  if (!target) return `leads to the dashboard "${uid}", which there is not`
  const names = target.templating.list.map((variable) => variable.name)
  const unknown = [...query.matchAll(/(?:^|&)var-(\w+)=/g)].find(([, variable = '']) => !names.includes(variable))
  if (unknown) return `sets the variable "${unknown[1]}", which the dashboard "${uid}" has not`
  const shown = /(?:^|&)viewPanel=(\d+)/.exec(query)?.[1]
  const ids = target.panels.flatMap(({ id, panels = [] }) => [id, ...panels.map((inner) => inner.id)])
  return shown !== undefined && !ids.includes(Number(shown))
    ? `shows the panel ${shown}, which the dashboard "${uid}" has not`
    : null
}

/** Characters of a description without its links. */
const FEWEST_LETTERS = 40
const UNITS = new Set<unknown>(Object.values(grafanaUnits))
/** A custom unit. */
const OWN_UNIT = /^(?:prefix|suffix|si):./
const RUNBOOK = /\]\([^)]*\/runbooks\/\w+(?:#[\w-]+)?\)/

/** Checks of the words and units of each panel. What its builder adds to every panel is not checked again. */
const lintPanels = (name: string, dashboard: Dashboard): readonly Finding[] =>
  panelsOf(dashboard).flatMap((panel) => {
    const where = `${name}, panel ${titleOf(panel)}`
    return [
      ...wordsOf(panel).map((what) => finding('words', where, what)),
      ...unitsOf(panel).map((what) => finding('unit', where, what)),
      ...legendOf(panel).map((what) => finding('legend', where, what)),
    ]
  })

const wordsOf = ({ description = '' }: Panel): readonly string[] => {
  const words = description.replaceAll(/\[[^\]]*\]\([^)]*\)/g, '')
  if (words.length < FEWEST_LETTERS)
    return ['its description is missing or too short; expected what it shows and what to do']
  return RUNBOOK.test(description)
    ? []
    : ['its description names no alert with a runbook; expected at least one link to what to do']
}

/** Over a graph, "last" includes series that ended long ago. */
const legendOf = ({ options = {} }: Panel): readonly string[] => {
  const { calcs = [] } = legend.parse(options['legend'] ?? {})
  return calcs.length === 0
    ? []
    : [`its legend calculates ${calcs.join(', ')}, also of series that have ended; expected names`]
}

const legend = z.object({ calcs: z.array(z.string()).optional() })

const unitsOf = (panel: Panel): readonly string[] => {
  const { type, fieldConfig, options } = panel
  if (type === 'table') return columnsOf(panel)
  const { unit, mappings: all = [] } = fieldConfig?.defaults ?? {}
  const mappings = all.filter(isOfValue)
  const showsNames = options?.['textMode'] === 'name'
  if (type === 'state-timeline')
    return mappings.length > 0 || hasWords(panel) ? [] : ['its values have no words; expected mappings']
  if (showsNames || mappings.length > 0) return []
  return complaint(unit).map((what) => `its unit ${what}`)
}

const hasWords = ({ fieldConfig }: Panel): boolean =>
  fieldConfig?.overrides.some(({ properties }) => properties.some(({ id }) => id === 'mappings')) ?? false

const complaint = (unit: string | undefined): readonly string[] => {
  if (unit === undefined || unit === '') return ['is missing; expected one of those that Grafana knows']
  if (unit === 'short') return ['is "short", which makes 158.6 Mil of a height; expected "locale"']
  if (unit === 'none') return ['is "none", and its values have no words; expected a unit, or mappings']
  return UNITS.has(unit) || OWN_UNIT.test(unit) ? [] : [`is "${unit}"; expected one that Grafana knows`]
}

/** Each value of a table is a column with a unit or value labels, or is hidden. */
const columnsOf = ({ targets = [], transformations = [], fieldConfig }: Panel): readonly string[] => {
  const names = transformations.flatMap(({ options }) => Object.entries(renamed.parse(options).renameByName ?? {}))
  return targets.flatMap(({ refId }) => {
    const wanted = targets.length === 1 ? 'Value' : `Value #${refId}`
    const title = names.find(([from]) => from === wanted)?.[1] ?? wanted
    const properties = fieldConfig?.overrides.find(({ matcher }) => matcher.options === title)?.properties ?? []
    const has = (id: string): boolean => properties.some((property) => property.id === id)
    const mappings = properties.find(({ id }) => id === 'mappings')?.value
    if (has('custom.hidden') || (Array.isArray(mappings) && mappings.some(isOfValue))) return []
    const unit = properties.find(({ id }) => id === 'unit')?.value ?? fieldConfig?.defaults.unit
    return complaint(typeof unit === 'string' ? unit : undefined).map(
      (what) => `the unit of its column "${title}" ${what}`,
    )
  })
}

/** A label for unknown values does not count as value labels. */
const isOfValue = (mapping: unknown): boolean => !special.safeParse(mapping).success

const special = z.object({ type: z.literal('special') })

const renamed = z.object({ renameByName: z.record(z.string(), z.string()).optional() })

/** WCAG AA for text of usual size. */
const LEAST = 4.5
/** Grafana writes white on a colour up to this brightness, and black on a brighter one. */
const BRIGHTEST = 180
const WHITE = [247, 248, 250] as const
const BLACK = [32, 34, 38] as const

type Rgb = readonly [red: number, green: number, blue: number]

/** Text on coloured areas must be readable: tiles, cells and states. */
const lintContrast = (name: string, dashboard: Dashboard): readonly Finding[] =>
  panelsOf(dashboard).flatMap((panel) =>
    [...new Set(areasOf(panel))]
      .map((colour) => ({ colour, contrast: contrastOf(colour) }))
      .filter(({ contrast }) => contrast < LEAST)
      .map(({ colour, contrast }) =>
        finding(
          'contrast',
          `${name}, panel ${titleOf(panel)}`,
          `text on ${colour} has a contrast of ${contrast.toFixed(1)}; expected ${LEAST}`,
        ),
      ),
  )

/** The colours behind text. Without text on them, limits and lines have brighter ones. */
const areasOf = ({ type, options, fieldConfig }: Panel): readonly string[] => {
  const { thresholds, mappings = [] } = fieldConfig?.defaults ?? {}
  const overridden = (fieldConfig?.overrides ?? []).flatMap(({ properties }) =>
    properties.filter(({ id }) => id === 'thresholds' || id === 'mappings').map(({ value }) => value),
  )
  if (type === 'stat' && options?.['colorMode'] !== 'background_solid') return []
  if (type === 'stat') return coloursIn([thresholds, mappings, overridden])
  if (type === 'table' || type === 'state-timeline') return coloursIn([mappings, overridden])
  return []
}

const coloursIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return /^#[\dA-Fa-f]{6}$/.test(value) ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(coloursIn) : []
}

const contrastOf = (colour: string): number => {
  const rgb: Rgb = [byte(colour, 1), byte(colour, 3), byte(colour, 5)]
  const [red, green, blue] = rgb
  const text = (299 * red + 587 * green + 114 * blue) / 1000 > BRIGHTEST ? BLACK : WHITE
  const [low = 0, high = 0] = [luminance(rgb), luminance(text)].toSorted((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

const byte = (colour: string, at: number): number => Number.parseInt(colour.slice(at, at + 2), 16)

/** Relative luminance, as WCAG 2 defines it. */
const luminance = (rgb: Rgb): number => {
  const [red = 0, green = 0, blue = 0] = rgb.map((part) => {
    const share = part / 255
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
