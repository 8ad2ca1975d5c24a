import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries'
import {
  GraphDrawStyle,
  GraphGradientMode,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import {
  FieldColorBuilder,
  FieldColorModeId,
  type DynamicConfigValue,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { type Limits } from '../limits.ts'
import { lookAmongNamed, lookOf, looksByName, propertiesOf, type Look } from '../looks.ts'
import {
  describe,
  dress,
  queries,
  refId,
  thresholds,
  type Heading,
  type Line,
  type Placed,
} from './panel.ts'

interface Graph extends Omit<Heading, 'height'> {
  readonly height?: number
  readonly lines: readonly Line[]
  readonly limits?: Limits
  /** The names that a legend made of labels gives, so that each keeps its colour and its dashes. */
  readonly names?: readonly string[]
  /** Where the legend gives numbers: what each stands for, and how it looks. */
  readonly words?: Readonly<Record<number, Look & { readonly text: string }>>
  /** Two lines, by their legends, between which is filled. */
  readonly band?: { readonly from: string; readonly to: string }
  readonly min?: number
  readonly max?: number
  /** The axis goes so far at least: a line of zeros would have one up to 100, or to 10000 %. */
  readonly softMax?: number
  readonly stacked?: boolean
  /** Bars for what is rare: an event now and then. */
  readonly bars?: boolean
}

/** Figures over time; limits are lines, and stand in the description as numbers. */
export const graph = (of: Graph): Placed => {
  const { limits, unit, min, max, softMax, stacked = false, bars = false } = of
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
        // No figures: the last one of a series that has ended long ago would look like that of now.
        .calcs([]),
    )
    .tooltip(
      new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending),
    )
  if (min !== undefined) panel.min(min)
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

/** What no pattern catches: a name that ends with neither letter nor digit. */
const BASE = lookOf(0, 'nothing').colour

interface Override {
  readonly matcher: 'refId' | 'pattern' | 'name'
  readonly name: string
  readonly properties: DynamicConfigValue[]
}

/** Later ones win: patterns first, then what is known. */
const looks = ({ lines, limits, names = [], words }: Graph): readonly Override[] => {
  const beside = limits ? 'limits' : 'nothing'
  const fixed = lines.flatMap(({ legend }, index) => (legend.includes('{{') ? [] : [refId(index)]))
  const isMixed = fixed.length < lines.length
  const patterns = isMixed && !words ? looksByName(beside) : []
  return [
    ...patterns.map((one): Override => ({ matcher: 'pattern', ...one })),
    ...fixed.map((name, index): Override => {
      const look = isMixed ? lookAmongNamed(index) : lookOf(index, beside)
      return { matcher: 'refId', name, properties: propertiesOf(look) }
    }),
    ...names.map((name, index): Override => ({
      matcher: 'name',
      name,
      properties: propertiesOf(lookOf(index, beside)),
    })),
    ...Object.entries(words ?? {}).map(([name, { text, ...look }]): Override => ({
      matcher: 'name',
      name,
      properties: [{ id: 'displayName', value: text }, ...propertiesOf(look)],
    })),
  ]
}
