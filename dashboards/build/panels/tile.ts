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
import { mappingsOf, unknownIn, type Words } from '../words.ts'
import { dress, queries, thresholds, type Heading, type Line, type Placed } from './panel.ts'

interface Tile extends Heading {
  readonly expr: string
  /** What stands under the figure; without it the limits do, in words. */
  readonly legend?: string
  readonly limits?: Limits
  readonly words?: Words
}

/** One figure to be read across the room, coloured by the limits of its alert. */
export const tile = (of: Tile): Placed => {
  const { expr, limits, unit } = of
  const legend = of.legend ?? limits?.words(unit) ?? ''
  const lines = [{ expr, legend: legend || of.title }]
  return figures({ ...of, lines, named: legend !== '' })
}

interface Figures extends Heading {
  readonly lines: readonly Line[]
  readonly limits?: Limits
  readonly words?: Words
  /** Whether the names of the figures are shown. */
  readonly named?: boolean
}

/** Several figures in one panel, each with its name. */
export const figures = (of: Figures): Placed => {
  const { lines, limits, words, named = true } = of
  const placed = dress(new PanelBuilder(), { height: 4, ...of }, queries(lines, 'instant'))
  placed.panel
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false))
    .colorMode(limits || words ? BigValueColorMode.BackgroundSolid : BigValueColorMode.None)
    .graphMode(BigValueGraphMode.None)
    // Names above figures: beside them they would be too small to read.
    .wideLayout(false)
    .textMode(named ? BigValueTextMode.ValueAndName : BigValueTextMode.Value)
    .orientation(VizOrientation.Auto)
    .text(new VizTextDisplayOptionsBuilder().titleSize(12))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .thresholds(thresholds(limits?.steps))
    .mappings([
      ...(words ? mappingsOf(words) : []),
      ...(limits || words ? [unknownIn(COLOUR.unknown)] : []),
    ])
  return placed
}

interface Labels extends Heading {
  readonly lines: readonly Line[]
}

/** What a thing is rather than how much: the text of a label, such as a version. */
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
