import { type Api } from '../../../test/dashboards/engine.ts'
import { type Annotation, type Panel, type Target } from '../../../test/dashboards/model.ts'
import { interpolate, type Scene, sent } from '../../../test/dashboards/resolve.ts'
import { type QueriedSeries } from '../../../test/support/prometheus.ts'

/** What a target answers, as the page wants it. */
export const answerOf = async ({ scene, panel, target }: Question, api: Api) => {
  const { expr, kind, step, span } = sent(scene, panel, target)
  const series = kind === 'instant' ? await api.instant(expr, scene.now) : await api.range(expr, { ...span, step })
  return {
    refId: target.refId,
    isTable: target.format === 'table',
    legend: target.legendFormat ?? '',
    ...(kind === 'instant' ? {} : { step }),
    series: series.map((one) => ({
      labels: one.labels,
      // JSON knows neither NaN nor infinity; Grafana draws neither.
      points: one.points.map(([at, value]) => [at, Number.isFinite(value) ? value : null]),
    })),
  }
}

interface Question {
  readonly scene: Scene
  readonly panel: Panel
  readonly target: Target
}

interface Mark {
  readonly name: string
  readonly color: string
  readonly from: number
  readonly to?: number
}

const STEP = 60

/** Where an annotation marks the time, in milliseconds: moments, or stretches from the first to the last of points in a row. */
export const marksOf = async (
  scene: Scene,
  { name, enable, expr, iconColor: color, useValueForTime }: Annotation,
  api: Api,
): Promise<readonly Mark[]> => {
  if (!enable) return []
  const { from, to } = scene.span
  const series = await api.range(interpolate(expr, scene), { ...scene.span, step: STEP })
  if (useValueForTime === true) {
    const moments = new Set(series.flatMap(({ points }) => points.map(([, value]) => value)))
    return [...moments].filter((at) => at >= from * 1000 && at <= to * 1000).map((at) => ({ name, color, from: at }))
  }
  return series.flatMap(stretches).map(([begin, end]) => ({
    name,
    color,
    from: begin * 1000,
    ...(end > begin ? { to: end * 1000 } : {}),
  }))
}

const stretches = ({ points }: QueriedSeries): readonly (readonly [number, number])[] => {
  const found: [number, number][] = []
  for (const [at] of points) {
    const last = found.at(-1)
    if (last && at - last[1] <= STEP) last[1] = at
    else found.push([at, at])
  }
  return found
}
