import { PanelBuilder } from '@grafana/grafana-foundation-sdk/table'
import {
  TableCellBackgroundDisplayMode,
  TableCellDisplayMode,
  TableCellHeight,
  TableSortByFieldStateBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import { type DynamicConfigValue } from '@grafana/grafana-foundation-sdk/dashboard'
import { type Limits } from '../limits.ts'
import { type Unit } from '../units.ts'
import { COLOUR, type Meaning } from '../colours.ts'
import { mappingsOf, pastIn, unknownIn, type ValueLabels } from '../value-labels.ts'
import { dress, queries, refId, thresholds, type Heading, type Placed } from './panel.ts'

export interface Column {
  readonly title: string
  readonly expr: string
  readonly unit: Unit
  readonly decimals?: number
  readonly limits?: Limits
  readonly words?: ValueLabels
  readonly width?: number
  /** The time until an event. Once it is over, the cell has this text and meaning. */
  readonly past?: Meaning
}

interface Table extends Omit<Heading, 'unit'> {
  /** Labels that are columns, with their titles; rows with the same values are merged. */
  readonly keys: Readonly<Record<string, string>>
  /** Labels that links need and that are hidden. */
  readonly hidden?: readonly string[]
  readonly columns: readonly Column[]
  readonly sortBy?: { readonly title: string; readonly descending: boolean }
  /** Link of each label column. */
  readonly links?: Readonly<Record<string, { readonly title: string; readonly url: string }>>
  /** Width of each label column. */
  readonly widths?: Readonly<Record<string, number>>
  /** Columns whose value is always 1: they add labels and are hidden. */
  readonly onlyLabels?: boolean
}

/** A table with one row per subject and one column per query. */
export const table = (of: Table): Placed => {
  const { keys, hidden = [], columns, sortBy, links = {}, widths = {}, onlyLabels = false } = of
  const lines = columns.map(({ expr }) => ({ expr, legend: '' }))
  const placed = dress(new PanelBuilder(), { height: 9, unit: 'none', ...of }, queries(lines, 'table'))
  const { panel } = placed
  const valueOf = (index: number): string => (columns.length === 1 ? 'Value' : `Value #${refId(index)}`)
  const shown = [...Object.keys(keys), ...columns.map((_column, index) => valueOf(index))]
  panel
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: { Time: true },
        indexByName: Object.fromEntries([...shown, ...hidden].map((name, index) => [name, index])),
        renameByName: {
          ...keys,
          ...Object.fromEntries(columns.map(({ title }, index) => [valueOf(index), title])),
        },
      },
    })
    .showHeader(true)
    .cellHeight(TableCellHeight.Sm)
    .filterable(true)
    .thresholds(thresholds())
  for (const column of columns) {
    panel.overrideByName(column.title, onlyLabels ? HIDDEN : propertiesOf(column))
  }
  for (const label of hidden) panel.overrideByName(label, HIDDEN)
  for (const [label, link] of Object.entries(links)) {
    panel.overrideByName(keys[label] ?? label, [{ id: 'links', value: [link] }])
  }
  for (const [label, width] of Object.entries(widths)) {
    panel.overrideByName(keys[label] ?? label, [{ id: 'custom.width', value: width }])
  }
  if (sortBy) {
    panel.sortBy([new TableSortByFieldStateBuilder().displayName(sortBy.title).desc(sortBy.descending)])
  }
  return placed
}

const HIDDEN: DynamicConfigValue[] = [{ id: 'custom.hidden', value: true }]

/** In a table only problems are coloured: a page of green would hide them. */
const quiet = (colour: string): string => (colour === COLOUR.good ? 'transparent' : colour)

const propertiesOf = (column: Column): DynamicConfigValue[] => {
  const { unit, decimals, limits, words, width, past } = column
  const steps = limits?.steps.map(({ value, color }) => ({ value, color: quiet(color) }))
  const mappings = [
    ...(words ? mappingsOf(words, quiet) : []),
    ...(past ? [pastIn(quiet(COLOUR[past]))] : []),
    unknownIn('transparent'),
  ]
  return [
    { id: 'unit', value: unit },
    ...(decimals === undefined ? [] : [{ id: 'decimals', value: decimals }]),
    ...(width === undefined ? [] : [{ id: 'custom.width', value: width }]),
    ...(words || limits || past ? [{ id: 'mappings', value: mappings }] : []),
    ...(words ? [] : [UNFILTERED]),
    ...(steps ? [{ id: 'thresholds', value: { mode: 'absolute', steps } }] : []),
    ...(limits || words ? [COLOURED] : []),
  ]
}

/** Number columns can be sorted but not filtered: the filter icon would hide their titles. */
const UNFILTERED: DynamicConfigValue = { id: 'custom.filterable', value: false }

const COLOURED: DynamicConfigValue = {
  id: 'custom.cellOptions',
  value: { type: TableCellDisplayMode.ColorBackground, mode: TableCellBackgroundDisplayMode.Basic },
}
