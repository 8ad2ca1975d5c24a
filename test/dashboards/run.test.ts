import { afterAll, beforeAll, expect, it } from 'vitest'
import { requirePrometheus } from '../support/prometheus.ts'
import { checkDashboards } from './check.ts'
import { type Engine, startEngine } from './engine.ts'
import { ALLOWED_FINDINGS } from './findings.ts'
import { ANSWER_FAULTS, alone } from './faults.ts'
import { HEALTHY, SILENT } from './history.ts'
import { committed, dashboardSchema, panelsOf, titleOf } from './model.ts'
import { openScene, sent } from './resolve.ts'
import { runDashboard } from './run.ts'

const describe = await requirePrometheus()

describe('the dashboards against a real Prometheus with a past', () => {
  let engine: Engine
  beforeAll(async () => {
    engine = await startEngine()
  })
  afterAll(() => engine.stop())

  it('show data everywhere, without findings', async () => {
    const check = { dashboards: committed(), api: engine, now: engine.now, excuses: ALLOWED_FINDINGS }
    expect(await checkDashboards(check)).toEqual([])
  })

  it.each(ANSWER_FAULTS)('$says', async ({ rule, says, plant }) => {
    const dashboard = alone()
    plant(dashboard)
    const run = { name: 'node', dashboard, api: engine, now: engine.now }
    const found = await runDashboard({ ...run, choose: { instance: HEALTHY } })
    // What has no job to ask for has no series either.
    const [first] = found
    expect(first?.rule, JSON.stringify(found)).toBe(rule)
    expect(first?.text).toContain(says)
    if (!says.startsWith('variable')) expect(found).toHaveLength(1)
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

  it('the panel into which faults are planted has no finding', async () => {
    const run = { name: 'node', dashboard: alone(), api: engine, now: engine.now }
    expect(await runDashboard({ ...run, choose: { instance: HEALTHY } })).toEqual([])
  })
})
