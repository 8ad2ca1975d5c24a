// Metrics that are on no dashboard and give no reason, and those that give one although they are: a sentence for each.
import { chapters } from '../.cache/modules/src/metrics.js'

export const panelDuties = (dashboards) => {
  const shown = dashboards.map(({ uid, panels }) => ({ name: uid.replace('chain-', ''), metrics: metricsOf(panels) }))
  return Object.entries(chapters).flatMap(([chapter, { metrics }]) => {
    const file = `the definition of the metrics of ${chapter}`
    const near = shown.filter((one) => Object.keys(metrics).some((name) => one.metrics.has(name)))
    const folders = near.map(({ name }) => `dashboards/build/${name}/`).join(', ') || 'dashboards/build/'
    return Object.entries(metrics).flatMap(([name, { noPanel }]) => {
      const isShown = shown.some((one) => one.metrics.has(name))
      if (isShown && noPanel !== undefined) return [`${name} is on a dashboard: remove its noPanel in ${file}`]
      if (isShown || noPanel !== undefined) return []
      return [`${name} is on no dashboard: add a panel (${folders}), or noPanel: 'the reason' in ${file}`]
    })
  })
}

/** Of a histogram, the name without the suffix of its series. */
const metricsOf = (panels) =>
  new Set(
    panels
      .flatMap((panel) => [panel, ...(panel.panels ?? [])])
      .flatMap(({ targets = [] }) => targets)
      .flatMap(({ expr = '' }) => expr.match(/\bchain_\w+/g) ?? [])
      .flatMap((name) => [name, name.replace(/_(?:bucket|sum|count)$/, '')]),
  )
