import { ThresholdsConfigBuilder, ThresholdsMode, type Panel } from '@grafana/grafana-foundation-sdk/dashboard'
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus'
import { type Builder } from '@grafana/grafana-foundation-sdk/cog'
import { COLOUR } from '../colours.ts'
import { filtered } from '../promql.ts'
import { runbookOf } from '../rules.ts'
import { type Step } from '../limits.ts'
import { type Unit } from '../units.ts'
import { NO_DATA } from '../value-labels.ts'

/** A panel and its width; 24 is a full line. */
export interface Placed {
  readonly panel: Builder<Panel>
  readonly title: string
  readonly width: number
  readonly height: number
}

/** Title and description of a panel. */
export interface Heading {
  readonly title: string
  /** What it shows, and what to do. */
  readonly about: string
  /** Alerts on the same metric; the panel links their runbooks. */
  readonly alerts?: readonly string[]
  readonly width: number
  readonly height?: number
  readonly unit: Unit
  readonly decimals?: number
  /** The text if there is no series and that is correct, for example `none`. Default: no data. */
  readonly empty?: string
}

export interface Line {
  readonly expr: string
  readonly legend: string
}

export const DATASOURCE = { type: 'prometheus', uid: '${datasource}' }

export const describe = ({ about, alerts = [] }: Heading): string => {
  const links = alerts.map((alert) => `[${alert}](${runbookOf(alert)})`)
  if (links.length === 0) return about
  return `${about}\n\n${links.length === 1 ? 'Alert' : 'Alerts'}: ${links.join(', ')}`
}

/** `instant` queries only the current time; a table has a row per series. */
export type Shape = 'range' | 'instant' | 'table'

export const queries = (lines: readonly Line[], shape: Shape): DataqueryBuilder[] =>
  lines.map(({ expr, legend }, index) => {
    const query = new DataqueryBuilder()
      .refId(refId(index))
      .datasource(DATASOURCE)
      .expr(filtered(expr))
      .legendFormat(legend)
    if (shape === 'range') return query.range()
    return shape === 'table' ? query.instant().format(PromQueryFormat.Table) : query.instant()
  })

export const refId = (index: number): string => String.fromCodePoint('A'.charCodeAt(0) + index)

export const thresholds = (steps: readonly Step[] = [{ value: null, color: COLOUR.info }]): ThresholdsConfigBuilder =>
  new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([...steps])

/** The methods that all panel builders of the SDK have. */
interface Dressable {
  title(title: string): this
  description(description: string): this
  datasource(datasource: typeof DATASOURCE): this
  span(width: number): this
  height(height: number): this
  unit(unit: string): this
  decimals(decimals: number): this
  noValue(text: string): this
  targets(targets: DataqueryBuilder[]): this
}

export const dress = <P extends Dressable & Builder<Panel>>(
  panel: P,
  heading: Heading & { readonly height: number },
  targets: DataqueryBuilder[],
): Placed & { readonly panel: P } => {
  const { title, width, height, unit, decimals, empty = NO_DATA } = heading
  panel
    .title(title)
    .description(describe(heading))
    .datasource(DATASOURCE)
    .span(width)
    .height(height)
    .unit(unit)
    .noValue(empty)
    .targets(targets)
  if (decimals !== undefined) panel.decimals(decimals)
  return { panel, title, width, height }
}
