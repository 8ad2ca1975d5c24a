import { type TimeRange, dateTime } from '@grafana/data'

export const timeRange = (): TimeRange => {
  const from = dateTime(window.scene.span.from)
  const to = dateTime(window.scene.span.to)
  return { from, to, raw: { from, to } }
}
