import * as grafanaUnits from '@grafana/grafana-foundation-sdk/units'
import { z } from 'zod'
import { type Finding, finding } from '../findings.ts'
import { type Dashboard, type Panel, panelsOf, titleOf } from '../model.ts'

/** Characters of a description without its links. */
const FEWEST_LETTERS = 40
const UNITS = new Set<unknown>(Object.values(grafanaUnits))
/** A custom unit. */
const OWN_UNIT = /^(?:prefix|suffix|si):./
const RUNBOOK = /\]\([^)]*\/runbooks\/\w+(?:#[\w-]+)?\)/

/** Checks of the words and units of each panel. What its builder adds to every panel is not checked again. */
export const lintPanels = (name: string, dashboard: Dashboard): readonly Finding[] =>
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
