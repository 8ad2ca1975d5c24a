import { HEALTHY } from '../../../test/dashboards/history.ts'
import { type Engine } from '../../../test/dashboards/engine.ts'
import { type Dashboard, type Panel, type Variable } from '../../../test/dashboards/model.ts'
import { openScene, type Scene } from '../../../test/dashboards/resolve.ts'
import { answerOf, marksOf } from './answers.ts'

/** The part of the history in which there is everything. */
const TOLD_IN_FULL = { from: 'now-6h', to: 'now' }

/** Everything that the page needs to draw a dashboard, but for the theme. */
export const sceneOf = async (committed: Dashboard, engine: Engine, instance = HEALTHY) => {
  const dashboard = { ...committed, time: TOLD_IN_FULL }
  const { title, panels, templating, annotations } = dashboard
  const isOfOne = templating.list.some(({ name, multi }) => name === 'instance' && !multi)
  const scene = await openScene(dashboard, engine, {
    now: engine.now,
    ...(isOfOne || instance !== HEALTHY ? { choose: { instance } } : {}),
  })
  return {
    title,
    chosen: templating.list
      .filter(({ type, name }) => type !== 'datasource' && name !== 'cluster')
      .map((variable) => ({ label: variable.label, text: textOf(variable, scene) })),
    span: { from: scene.span.from * 1000, to: scene.span.to * 1000 },
    marks: (await Promise.all(annotations.list.map((one) => marksOf(scene, one, engine)))).flat(),
    panels: await Promise.all(
      opened(panels).map(async (panel) =>
        panel.type === 'row' ? panel : { ...panel, answers: await answersOf(panel, scene, engine) },
      ),
    ),
  }
}

const textOf = ({ name }: Variable, { variables }: Scene): string => {
  const { values = [], verbatim } = variables.get(name) ?? {}
  return verbatim === undefined && values.length === 1 ? values.join('') : 'All'
}

const answersOf = async (panel: Panel, scene: Scene, engine: Engine) =>
  Promise.all((panel.targets ?? []).map((target) => answerOf({ scene, panel, target }, engine)))

/** All rows opened; what is below one that was closed moves down. */
const opened = (panels: Dashboard['panels']) => {
  let moved = 0
  return panels.flatMap((panel) => {
    const shift = <P extends { readonly gridPos: Panel['gridPos'] }>(one: P): P => ({
      ...one,
      gridPos: { ...one.gridPos, y: one.gridPos.y + moved },
    })
    if (panel.type !== 'row') return [shift(panel)]
    const { panels: inner, ...row } = panel
    const rows = [shift(row), ...inner.map(shift)]
    const ends = inner.map(({ gridPos: { y, h } }) => y + h)
    moved += Math.max(panel.gridPos.y + 1, ...ends) - (panel.gridPos.y + 1)
    return rows
  })
}
