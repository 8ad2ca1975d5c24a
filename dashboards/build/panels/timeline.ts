import { PanelBuilder } from '@grafana/grafana-foundation-sdk/statetimeline'
import {
  LegendDisplayMode,
  LegendPlacement,
  VisibilityMode,
  VizLegendOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import { FieldColorBuilder, FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard'
import { fillOf } from '../colours.ts'
import { mappingsOf, type ValueLabels } from '../value-labels.ts'
import { dress, queries, refId, thresholds, type Heading, type Line, type Placed } from './panel.ts'

interface States extends Line {
  /** Default: those of the panel. */
  readonly words?: ValueLabels
}

interface Timeline extends Omit<Heading, 'unit'> {
  readonly lines: readonly States[]
  readonly words?: ValueLabels
  /** Without a legend there is more space; the states have their labels. */
  readonly legend?: boolean
}

/** States over time, each with its label and not only a colour. A gap is time without data. */
export const timeline = (of: Timeline): Placed => {
  const placed = dress(new PanelBuilder(), { height: 7, unit: 'none', ...of }, queries(of.lines, 'range'))
  const { panel } = placed
  panel
    .mergeValues(true)
    .showValue(VisibilityMode.Auto)
    .rowHeight(0.85)
    .fillOpacity(100)
    .lineWidth(0)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .thresholds(thresholds())
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(of.legend ?? true),
    )
  if (of.words) panel.mappings(mappingsOf(of.words, fillOf))
  of.lines.forEach(({ words }, index) => {
    if (words) panel.overrideByQuery(refId(index), [{ id: 'mappings', value: mappingsOf(words, fillOf) }])
  })
  return placed
}
