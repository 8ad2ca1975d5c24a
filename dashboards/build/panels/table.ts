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
import { COLOUR, type Meaning, quietFillOf } from '../colours.ts'
import { type Link } from '../links.ts'
import { mappingsOf, pastIn, textMappingOf, type TextLabels, unknownIn, type ValueLabels } from '../value-labels.ts'
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
  /** The text of a cell without a value, where that is correct. */
  readonly empty?: string
}

interface Table extends Omit<Heading, 'unit'> {
  /** Labels that are columns, with their titles; rows with the same values are merged. */
  readonly keys: Readonly<Record<string, string>>
  /** Labels that links need and that are hidden. */
  readonly hidden?: readonly string[]
  readonly columns: readonly Column[]
  readonly sortBy?: { readonly title: string; readonly descending: boolean }
  /** Link of each label column. */
  readonly links?: Readonly<Record<string, Link>>
  /** The meaning of each text of a label column. */
  readonly texts?: Readonly<Record<string, TextLabels>>
  /** Width of each label column. */
  readonly widths?: Readonly<Record<string, number>>
  /** Columns whose value is always 1: they add labels and are hidden. */
  readonly onlyLabels?: boolean
  /** Whether the values come before the labels. */
  readonly valuesFirst?: boolean
}

/** The height at which a table shows this number of rows without scrolling: a row is 36 px high, a line of the grid 38. */
export const heightOf = (rows: number): number => rows + 2

/** A table with one row per subject and one column per query. */
export const table = (of: Table): Placed => {
  const { keys, hidden = [], columns, sortBy, links = {}, texts = {}, widths = {} } = of
  const { onlyLabels = false, valuesFirst = false } = of
  const lines = columns.map(({ expr }) => ({ expr, legend: '' }))
  const placed = dress(new PanelBuilder(), { height: 9, unit: 'none', ...of }, queries(lines, 'table'))
  const { panel } = placed
  const valueOf = (index: number): string => (columns.length === 1 ? 'Value' : `Value #${refId(index)}`)
  const values = columns.map((_column, index) => valueOf(index))
  const shown = valuesFirst ? [...values, ...Object.keys(keys)] : [...Object.keys(keys), ...values]
  panel
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: { Time: true },
        indexByName: Object.fromEntries([...shown, ...hidden].map((name, index) => [name, index])),
        renameByName: { ...keys, ...Object.fromEntries(columns.map(({ title }, index) => [valueOf(index), title])) },
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
  for (const [label, words] of Object.entries(texts)) {
    const mappings = [textMappingOf(words, quietFillOf)]
    panel.overrideByName(keys[label] ?? label, [{ id: 'mappings', value: mappings }, COLOURED])
  }
  for (const [label, width] of Object.entries(widths)) {
    panel.overrideByName(keys[label] ?? label, [{ id: 'custom.width', value: width }])
  }
  if (sortBy) {
    panel.sortBy([new TableSortByFieldStateBuilder().displayName(sortBy.title).desc(sortBy.descending)])
  }
  return placed
}

/** Without `noValue`, a link would have the text of an empty cell instead of an empty label. */
const HIDDEN: DynamicConfigValue[] = [
  { id: 'custom.hideFrom.viz', value: true },
  // Before Grafana 12.2.
  { id: 'custom.hidden', value: true },
  { id: 'noValue', value: '' },
]

const propertiesOf = (column: Column): DynamicConfigValue[] => {
  const { unit, decimals, limits, words, width, past, empty } = column
  const steps = limits?.steps.map(({ value, color }) => ({ value, color: quietFillOf(color) }))
  const mappings = [
    ...(words ? mappingsOf(words, quietFillOf) : []),
    ...(past ? [pastIn(quietFillOf(COLOUR[past]))] : []),
    unknownIn('transparent', empty),
  ]
  return [
    { id: 'unit', value: unit },
    ...(decimals === undefined ? [] : [{ id: 'decimals', value: decimals }]),
    ...(width === undefined ? [] : [{ id: 'custom.width', value: width }]),
    ...(words || limits || past || empty !== undefined ? [{ id: 'mappings', value: mappings }] : []),
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
