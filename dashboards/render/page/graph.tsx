import { type DataFrame } from '@grafana/data'
// The part of Grafana's own panel that draws lines is exported from its "graveyard": another release may not have it.
import { TimeSeries, type UPlotConfigBuilder, useTheme2 } from '@grafana/ui'
import type uPlot from 'uplot'
import { timeRange } from './time.ts'
import { TIME_ZONE } from './fields.ts'
import { type Graph, type Mark } from './scene.ts'

interface Props {
  readonly panel: Graph
  readonly frames: DataFrame[]
  readonly width: number
  readonly height: number
}

export const Lines = ({ panel, frames, width, height }: Props) => {
  const theme = useTheme2()
  return (
    <TimeSeries
      frames={frames.filter(hasNumber)}
      width={width}
      height={height}
      timeRange={timeRange()}
      timeZone={TIME_ZONE}
      legend={panel.options.legend}
      options={{ theme }}
    >
      {(builder) => {
        mark(builder)
        return null
      }}
    </TimeSeries>
  )
}

const hasNumber = ({ fields }: DataFrame): boolean =>
  fields.some((field) => field.type === 'number' && field.values.length > 0)

const marked = new WeakSet<UPlotConfigBuilder>()

/** Annotations: a dashed line for a moment, and something over a stretch of time. */
const mark = (builder: UPlotConfigBuilder): void => {
  if (marked.has(builder)) return
  marked.add(builder)
  builder.addHook('draw', (plot) => window.scene.marks.forEach((one) => drawMark(plot, one)))
}

const drawMark = (plot: uPlot, { from, to, color }: Mark): void => {
  const { ctx, bbox } = plot
  const place = (at: number): number =>
    Math.min(Math.max(plot.valToPos(at, 'x', true), bbox.left), bbox.left + bbox.width)
  const begin = place(from)
  ctx.save()
  if (to !== undefined) {
    ctx.globalAlpha = 0.1
    ctx.fillStyle = color
    ctx.fillRect(begin, bbox.top, place(to) - begin, bbox.height)
    ctx.globalAlpha = 1
    ctx.fillRect(begin, bbox.top + bbox.height, Math.max(2, place(to) - begin), 3)
  }
  ctx.strokeStyle = color
  ctx.globalAlpha = 0.8
  ctx.setLineDash([4, 4])
  for (const x of to === undefined ? [begin] : [begin, place(to)]) {
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}
