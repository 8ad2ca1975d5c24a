import { type DataFrame } from '@grafana/data'
import { TableNG } from '@grafana/ui/unstable'
import { timeRange } from './time.ts'
import { type Rows } from './scene.ts'

interface Props {
  readonly panel: Rows
  readonly frames: DataFrame[]
  readonly width: number
  readonly height: number
}

export const Table = ({ panel, frames: [frame], width, height }: Props) =>
  frame && (
    <TableNG
      data={frame}
      width={width}
      height={height}
      noHeader={!panel.options.showHeader}
      cellHeight={panel.options.cellHeight}
      sortBy={[...(panel.options.sortBy ?? [])]}
      timeRange={timeRange()}
      fieldConfig={panel.fieldConfig}
      noValue={panel.fieldConfig.defaults.noValue}
      enableVirtualization={false}
      structureRev={1}
    />
  )
