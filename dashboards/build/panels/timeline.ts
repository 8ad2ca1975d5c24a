import { PanelBuilder } from '@grafana/grafana-foundation-sdk/statetimeline'
import {
  LegendDisplayMode,
  LegendPlacement,
  VisibilityMode,
  VizLegendOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import { FieldColorBuilder, FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard'
import { mappingsOf, type ValueLabels } from '../value-labels.ts'
import { dress, queries, thresholds, type Heading, type Line, type Placed } from './panel.ts'

interface Timeline extends Omit<Heading, 'unit'> {
  readonly lines: readonly Line[]
  readonly words: ValueLabels
}

/** States over time, each with its label and not only a colour. A gap is time without data. */
export const timeline = (of: Timeline): Placed => {
  const placed = dress(new PanelBuilder(), { height: 7, unit: 'none', ...of }, queries(of.lines, 'range'))
  placed.panel
    .mergeValues(true)
    .showValue(VisibilityMode.Auto)
    .rowHeight(0.85)
    .fillOpacity(75)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .thresholds(thresholds())
    .mappings(mappingsOf(of.words))
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    )
  return placed
}
