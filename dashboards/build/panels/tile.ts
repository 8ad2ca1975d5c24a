import { PanelBuilder } from '@grafana/grafana-foundation-sdk/stat'
import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  ReduceDataOptionsBuilder,
  VizOrientation,
  VizTextDisplayOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import { FieldColorBuilder, FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard'
import { type Limits } from '../limits.ts'
import { COLOUR } from '../colours.ts'
import { mappingsOf, unknownIn, type ValueLabels } from '../value-labels.ts'
import { dress, queries, thresholds, type Heading, type Line, type Placed } from './panel.ts'

interface Tile extends Heading {
  readonly expr: string
  /** Text below the value. Default: the limits. */
  readonly legend?: string
  readonly limits?: Limits
  readonly words?: ValueLabels
}

/** One large value, coloured by the limits of its alert. */
export const tile = (of: Tile): Placed => {
  const { expr, limits, unit } = of
  const legend = of.legend ?? limits?.words(unit) ?? ''
  const lines = [{ expr, legend: legend || of.title }]
  return figures({ ...of, lines, named: legend !== '' })
}

interface Figures extends Heading {
  readonly lines: readonly Line[]
  readonly limits?: Limits
  readonly words?: ValueLabels
  /** Whether the names of the values are shown. */
  readonly named?: boolean
}

/** Several values in one panel, each with its name. */
export const figures = (of: Figures): Placed => {
  const { lines, limits, words, named = true } = of
  const placed = dress(new PanelBuilder(), { height: 4, ...of }, queries(lines, 'instant'))
  placed.panel
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false))
    .colorMode(limits || words ? BigValueColorMode.BackgroundSolid : BigValueColorMode.None)
    .graphMode(BigValueGraphMode.None)
    // Names above values: next to them they would be too small to read.
    .wideLayout(false)
    .textMode(named ? BigValueTextMode.ValueAndName : BigValueTextMode.Value)
    .orientation(VizOrientation.Auto)
    .text(new VizTextDisplayOptionsBuilder().titleSize(12))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .thresholds(thresholds(limits?.steps))
    .mappings([...(words ? mappingsOf(words) : []), ...(limits || words ? [unknownIn(COLOUR.unknown)] : [])])
  return placed
}

interface Labels extends Heading {
  readonly lines: readonly Line[]
}

/** The text of a label instead of a number, such as a version. */
export const labels = (of: Labels): Placed => {
  const placed = dress(new PanelBuilder(), { height: 4, ...of }, queries(of.lines, 'instant'))
  placed.panel
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false))
    .colorMode(BigValueColorMode.None)
    .graphMode(BigValueGraphMode.None)
    .textMode(BigValueTextMode.Name)
    .orientation(VizOrientation.Horizontal)
    .text(new VizTextDisplayOptionsBuilder().titleSize(16))
  return placed
}
