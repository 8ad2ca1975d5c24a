import type { Finding } from './findings.ts'
import { lintContrast } from './lint/contrast.ts'
import { lintExpressions } from './lint/expressions.ts'
import { landmarkSchema, lintLinks } from './lint/links.ts'
import { lintPanels } from './lint/panels.ts'
import { dashboardSchema } from './model.ts'

/**
 * Findings that need no Prometheus. `dashboards`: name → JSON; `those` of them are checked, the others are only targets
 * of links.
 */
export const lint = (
  dashboards: ReadonlyMap<string, unknown>,
  those: readonly string[] = [...dashboards.keys()],
): readonly Finding[] => {
  const all = [...dashboards.values()].map((json) => landmarkSchema.parse(json))
  return those.flatMap((name) => {
    const dashboard = dashboardSchema.parse(dashboards.get(name))
    return [
      ...lintPanels(name, dashboard),
      ...lintExpressions(name, dashboard),
      ...lintLinks(name, dashboard, all),
      ...lintContrast(name, dashboard),
    ]
  })
}
