import {
  type BigValueColorMode,
  type BigValueGraphMode,
  type BigValueTextMode,
  type BigValueJustifyMode,
} from '@grafana/ui'
import { type DataTransformerConfig, type FieldConfigSource, type VizOrientation } from '@grafana/data'
import {
  type BarGaugeDisplayMode,
  type BarGaugeNamePlacement,
  type BarGaugeValueMode,
  type ReduceDataOptions,
  type TableCellHeight,
  type TableSortByFieldState,
  type VizLegendOptions,
  type VizTextDisplayOptions,
} from '@grafana/schema'

/** What the tool hands to the page: JSON, in the words of Grafana's own dashboards. */
export interface Scene {
  readonly title: string
  readonly theme: 'dark' | 'light'
  /** What the variables stand for. */
  readonly chosen: readonly { readonly label: string; readonly text: string }[]
  /** Milliseconds since the epoch. */
  readonly span: { readonly from: number; readonly to: number }
  readonly panels: readonly Drawn[]
  readonly marks: readonly Mark[]
}

/** An annotation: a moment, or a stretch of time. */
export interface Mark {
  readonly name: string
  readonly color: string
  readonly from: number
  readonly to?: number
}

export interface Answer {
  readonly refId: string
  readonly isTable: boolean
  /** How a series is named: text with labels in double braces. */
  readonly legend: string
  /** Seconds between two points; absent where there is one point alone. */
  readonly step?: number
  readonly series: readonly {
    readonly labels: Readonly<Record<string, string>>
    readonly points: readonly (readonly [at: number, value: number | null])[]
  }[]
}

interface Common {
  readonly id: number
  readonly title: string
  readonly description?: string
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
  readonly fieldConfig: FieldConfigSource<Record<string, unknown>>
  readonly transformations?: readonly DataTransformerConfig[]
  readonly answers: readonly Answer[]
}

export interface Stat extends Common {
  readonly type: 'stat'
  readonly options: {
    readonly colorMode: BigValueColorMode
    readonly graphMode: BigValueGraphMode
    readonly justifyMode: BigValueJustifyMode
    readonly textMode: BigValueTextMode
    readonly orientation: VizOrientation
    readonly wideLayout: boolean
    readonly reduceOptions: ReduceDataOptions
    readonly text?: VizTextDisplayOptions
  }
}

export interface Bars extends Common {
  readonly type: 'bargauge'
  readonly options: {
    readonly displayMode: BarGaugeDisplayMode
    readonly valueMode: BarGaugeValueMode
    readonly namePlacement: BarGaugeNamePlacement
    readonly showUnfilled: boolean
    readonly minVizWidth: number
    readonly minVizHeight: number
    readonly maxVizHeight: number
    readonly orientation: VizOrientation
    readonly reduceOptions: ReduceDataOptions
    readonly text?: VizTextDisplayOptions
  }
}

export interface Graph extends Common {
  readonly type: 'timeseries'
  readonly options: { readonly legend: VizLegendOptions }
}

export interface Timeline extends Common {
  readonly type: 'state-timeline'
  readonly options: { readonly rowHeight: number; readonly legend: VizLegendOptions }
}

export interface Rows extends Common {
  readonly type: 'table'
  readonly options: {
    readonly showHeader: boolean
    readonly cellHeight: TableCellHeight
    readonly sortBy?: TableSortByFieldState[]
  }
}

interface RowTitle {
  readonly type: 'row'
  readonly id: number
  readonly title: string
  readonly gridPos: Common['gridPos']
}

export type Visual = Stat | Bars | Graph | Timeline | Rows
export type Drawn = Visual | RowTitle
