import { PanelBuilder } from '@grafana/grafana-foundation-sdk/bargauge'
import {
  BarGaugeDisplayMode,
  BarGaugeNamePlacement,
  BarGaugeSizing,
  BarGaugeValueMode,
  ReduceDataOptionsBuilder,
  VizOrientation,
  VizTextDisplayOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import { DashboardLinkBuilder, FieldColorBuilder, FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard'
import { type Limits } from '../limits.ts'
import { type Link } from '../links.ts'
import { describe, dress, queries, thresholds, type Heading, type Placed } from './panel.ts'

export interface Bars extends Omit<Heading, 'height'> {
  readonly height?: number
  readonly expr: string
  readonly legend: string
  readonly limits?: Limits
  readonly min?: number
  readonly max?: number
  /** Link of a bar. */
  readonly link?: Link
}

/** The top entries, longest bar first, each with its name and value. */
export const bars = (of: Bars): Placed => {
  const { expr, legend, limits, unit, min = 0, max, link } = of
  const placed = dress(new PanelBuilder(), { height: 9, ...of }, queries([{ expr, legend }], 'instant'))
  const { panel } = placed
  panel
    .displayMode(BarGaugeDisplayMode.Basic)
    .valueMode(BarGaugeValueMode.Text)
    .namePlacement(BarGaugeNamePlacement.Left)
    // The same bar height with two bars as with six, and complete names.
    .sizing(BarGaugeSizing.Manual)
    .minVizHeight(16)
    .maxVizHeight(24)
    .text(new VizTextDisplayOptionsBuilder().titleSize(13).valueSize(14))
    .showUnfilled(true)
    .orientation(VizOrientation.Horizontal)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .thresholds(thresholds(limits?.steps))
    .min(min)
  if (max !== undefined) panel.max(max)
  if (limits) panel.description(describe({ ...of, about: `${of.about} Limits: ${limits.words(unit)}.` }))
  if (link) panel.dataLinks([new DashboardLinkBuilder(link.title).url(link.url)])
  return placed
}
