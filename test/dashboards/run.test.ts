import { afterAll, beforeAll, expect, it } from 'vitest'
import { requirePrometheus } from '../support/prometheus.ts'
import { checkDashboards } from './check.ts'
import { type Engine, startEngine } from './engine.ts'
import { SILENT } from './history.ts'
import { committed, dashboardSchema, panelsOf, titleOf } from './model.ts'
import { openScene, sent } from './resolve.ts'

const describe = await requirePrometheus()

describe('the dashboards against a real Prometheus with a past', () => {
  let engine: Engine
  beforeAll(async () => {
    engine = await startEngine()
  })
  afterAll(() => engine.stop())

  it('show data everywhere, without findings', async () => {
    expect(await checkDashboards({ dashboards: committed(), api: engine, now: engine.now })).toEqual([])
  })

  it('show for a node without its agent only values that do not need it', async () => {
    const dashboard = dashboardSchema.parse(committed().get('node'))
    const choose = { instance: SILENT }
    const scene = await openScene(dashboard, engine, { now: engine.now, choose })
    const shown = new Set<string>()
    for (const panel of panelsOf(dashboard)) {
      for (const target of panel.targets ?? []) {
        const { expr, kind, span, step } = sent(scene, panel, target)
        // A tile with a trend has a range, and shows its last value.
        if (kind !== 'instant' && panel.type !== 'stat') continue
        const answer = kind === 'instant' ? engine.instant(expr, engine.now) : engine.range(expr, { ...span, step })
        if ((await answer).length > 0) shown.add(titleOf(panel))
      }
    }
    expect([...shown]).toEqual(['"Alerts that fire"', '"State"', '"Alerts"', '"Last contact"'])
  })

  it.each(['Share of time with a fresh block, one hour', 'Time until a vote is ready, 99th percentile'])(
    '%s: the worst nodes are chosen once, and shown whole',
    async (title) => {
      const dashboard = dashboardSchema.parse(committed().get('duties'))
      const scene = await openScene(dashboard, engine, { now: engine.now })
      const panel = panelsOf(dashboard).find((one) => one.title === title)
      const [target] = panel?.targets ?? []
      if (!panel || !target) throw new Error(`${title} is gone`)
      const { expr, span, step } = sent(scene, panel, target)
      const all = await engine.range(expr, { ...span, step })
      const one = await engine.range(expr.replace(/(topk|bottomk)\(10,/, '$1(1,'), { ...span, step })
      expect(all.length).toBeGreaterThan(1)
      expect(one).toHaveLength(1)
      expect(all).toContainEqual(one[0])
    },
  )
})
