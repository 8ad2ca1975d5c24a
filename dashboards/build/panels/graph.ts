import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries'
import {
  GraphDrawStyle,
  GraphGradientMode,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ScaleDistribution,
  ScaleDistributionConfigBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import { FieldColorBuilder, FieldColorModeId, type DynamicConfigValue } from '@grafana/grafana-foundation-sdk/dashboard'
import { type Limits } from '../limits.ts'
import { namedLineStyle, lineStyleOf, lineStylesByName, propertiesOf, type LineStyle } from '../line-styles.ts'
import { describe, dress, queries, refId, thresholds, type Heading, type Line, type Placed } from './panel.ts'

interface Graph extends Omit<Heading, 'height'> {
  readonly height?: number
  readonly lines: readonly Line[]
  readonly limits?: Limits
  /** All series names that a legend made of labels produces. Without them, styles are assigned by patterns. */
  readonly names?: readonly string[]
  /** For legends that are numbers: the label and the style of each. */
  readonly words?: Readonly<Record<number, LineStyle & { readonly text: string }>>
  /** The legends of two lines; the area between them is filled. */
  readonly band?: { readonly from: string; readonly to: string }
  readonly min?: number
  readonly max?: number
  /** For values whose usual size is far below that of an outage. The minimum of such an axis cannot be 0. */
  readonly logarithmic?: boolean
  /** Minimum of the axis maximum: for a line of zeros Grafana would choose 100, or 10000%. */
  readonly softMax?: number
  readonly stacked?: boolean
  /** Bars, for rare events. */
  readonly bars?: boolean
}

/** Values over time; limits are lines, and numbers in the description. */
export const graph = (of: Graph): Placed => {
  const { limits, unit, min, max, softMax, stacked = false, bars = false, logarithmic = false } = of
  const placed = dress(new PanelBuilder(), { height: 8, ...of }, queries(of.lines, 'range'))
  const { panel } = placed
  panel
    .lineWidth(2)
    .fillOpacity(stacked || bars ? 60 : 0)
    .gradientMode(GraphGradientMode.None)
    .drawStyle(bars ? GraphDrawStyle.Bars : GraphDrawStyle.Line)
    .showPoints(VisibilityMode.Never)
    .stacking(new StackingConfigBuilder().mode(stacked ? StackingMode.Normal : StackingMode.None))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Fixed).fixedColor(BASE))
    .thresholds(thresholds(limits?.lines))
    .thresholdsStyle(
      new GraphThresholdsStyleConfigBuilder().mode(
        limits ? GraphThresholdsStyleMode.Dashed : GraphThresholdsStyleMode.Off,
      ),
    )
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true)
        // No values in the legend: the last value of a series that ended long ago would look current.
        .calcs([]),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
  if (logarithmic) panel.scaleDistribution(new ScaleDistributionConfigBuilder().type(ScaleDistribution.Log).log(10))
  else if (min !== undefined) panel.min(min)
  if (max !== undefined) panel.max(max)
  if (softMax !== undefined) panel.axisSoftMax(softMax)
  if (limits) {
    const about = `${of.about} The lines: ${limits.words(unit)}.`
    panel.description(describe({ ...of, about }))
  }
  for (const { matcher, name, properties } of looks(of)) {
    if (matcher === 'refId') panel.overrideByQuery(name, properties)
    else if (matcher === 'pattern') panel.overrideByRegexp(name, properties)
    else panel.overrideByName(name, properties)
  }
  if (of.band) {
    const fill = { id: 'custom.fillBelowTo', value: of.band.from }
    panel.overrideByName(of.band.to, [fill, { id: 'custom.fillOpacity', value: 15 }])
  }
  return placed
}

/** A name that matches no pattern, because it ends with neither letter nor digit. */
const BASE = lineStyleOf(0, 'nothing').colour

interface Override {
  readonly matcher: 'refId' | 'pattern' | 'name'
  readonly name: string
  readonly properties: DynamicConfigValue[]
}

/** Later overrides win: patterns first, then known names. */
const looks = ({ lines, limits, names = [], words }: Graph): readonly Override[] => {
  const avoided = limits ? 'limits' : 'nothing'
  const fixed = lines.flatMap(({ legend }, index) => (legend.includes('{{') ? [] : [refId(index)]))
  const isMixed = fixed.length < lines.length
  const patterns = isMixed && !words && names.length === 0 ? lineStylesByName(avoided) : []
  return [
    ...patterns.map((one): Override => ({ matcher: 'pattern', ...one })),
    ...fixed.map((name, index): Override => {
      const look = isMixed ? namedLineStyle(index) : lineStyleOf(index, avoided)
      return { matcher: 'refId', name, properties: propertiesOf(look) }
    }),
    ...names.map((name, index): Override => ({
      matcher: 'name',
      name,
      properties: propertiesOf(lineStyleOf(index, avoided)),
    })),
    ...Object.entries(words ?? {}).map(([name, { text, ...look }]): Override => ({
      matcher: 'name',
      name,
      properties: [{ id: 'displayName', value: text }, ...propertiesOf(look)],
    })),
  ]
}
