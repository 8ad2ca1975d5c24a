import { PanelBuilder } from '@grafana/grafana-foundation-sdk/stat'
import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  ReduceDataOptionsBuilder,
  VizOrientation,
  VizTextDisplayOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import {
  DashboardLinkBuilder,
  FieldColorBuilder,
  FieldColorModeId,
  type DynamicConfigValue,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { type Limits } from '../limits.ts'
import { type Link } from '../links.ts'
import { COLOUR, fillOf, quietFillOf } from '../colours.ts'
import { untilNow } from '../promql.ts'
import { mappingsOf, unknownIn, type ValueLabels } from '../value-labels.ts'
import { dress, queries, refId, thresholds, type Heading, type Line, type Placed } from './panel.ts'

interface Tile extends Heading {
  readonly expr: string
  /** Text below the value. Default: the limits. */
  readonly legend?: string
  readonly limits?: Limits
  readonly words?: ValueLabels
  /** The panel or page with the detail: the target of a click. */
  readonly to: Link
  /** Whether the course over time is drawn behind the value. */
  readonly trend?: boolean
}

/** One large value, coloured by the limits of its alert if it is beyond them. */
export const tile = (of: Tile): Placed => {
  const { expr, limits, unit } = of
  const legend = of.legend ?? limits?.words(unit) ?? ''
  const lines = [{ expr, legend: legend || of.title }]
  return figures({ ...of, lines, named: legend !== '' })
}

interface Figure extends Line {
  /** Default: those of the panel. */
  readonly limits?: Limits
}

interface Figures extends Heading {
  readonly lines: readonly Figure[]
  readonly limits?: Limits
  readonly words?: ValueLabels
  /** Whether the names of the values are shown. */
  readonly named?: boolean
  readonly to?: Link
  readonly trend?: boolean
}

/** Sizes in pixels; otherwise they differ from tile to tile with the length of the text. */
const NAME = 12
const VALUE = 26

/** Several values in one panel, each with its name. */
export const figures = (of: Figures): Placed => {
  const { limits, words, named = true, to, trend = false } = of
  const lines = trend ? of.lines.map(({ expr, legend }) => ({ expr: untilNow(expr), legend })) : of.lines
  const isColoured = words !== undefined || of.lines.some((line) => (line.limits ?? limits) !== undefined)
  const placed = dress(new PanelBuilder(), { height: 4, ...of }, queries(lines, trend ? 'range' : 'instant'))
  const { panel } = placed
  panel
    .reduceOptions(new ReduceDataOptionsBuilder().calcs([trend ? 'last' : 'lastNotNull']).values(false))
    .colorMode(isColoured ? BigValueColorMode.BackgroundSolid : BigValueColorMode.None)
    .graphMode(trend ? BigValueGraphMode.Line : BigValueGraphMode.None)
    // Names above values: next to them they would be too small to read.
    .wideLayout(false)
    .textMode(named ? BigValueTextMode.ValueAndName : BigValueTextMode.Value)
    .orientation(VizOrientation.Auto)
    .text(new VizTextDisplayOptionsBuilder().titleSize(NAME).valueSize(VALUE))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .thresholds(thresholds(filled(limits, trend) ?? [{ value: null, color: behind(COLOUR.good, trend) }]))
    .mappings([
      ...(words ? mappingsOf(words, quietFillOf) : []),
      // What is correctly absent has no colour.
      ...(isColoured ? [unknownIn(of.empty === undefined ? fillOf(COLOUR.unknown) : 'transparent', of.empty)] : []),
    ])
  of.lines.forEach((line, index) => {
    if (!line.limits) return
    const value = { mode: 'absolute', steps: filled(line.limits) }
    panel.overrideByQuery(refId(index), [{ id: 'thresholds', value } satisfies DynamicConfigValue])
  })
  if (to) panel.dataLinks([new DashboardLinkBuilder(to.title).url(to.url)])
  return placed
}

/** Behind a healthy trend: Grafana derives the colour of the line from it. */
const NEUTRAL = 'rgba(128, 128, 128, 0.15)'

const behind = (colour: string, trend: boolean): string => {
  const quiet = quietFillOf(colour)
  return trend && quiet === 'transparent' ? NEUTRAL : quiet
}

const filled = (limits: Limits | undefined, trend = false) =>
  limits?.steps.map(({ value, color }) => ({ value, color: behind(color, trend) }))

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
