import { type Finding, finding } from './findings.ts'
import { lintExpressions } from './lint/expressions.ts'
import { lintContrast } from './lint/contrast.ts'
import { lintFrame } from './lint/frame.ts'
import { landmarkSchema, lintLinks } from './lint/links.ts'
import { lintPanels } from './lint/panels.ts'
import { type Dashboard, dashboardSchema } from './model.ts'

/**
 * Findings that need no Prometheus. `dashboards`: name → JSON; `those` of them are checked, the others are only targets
 * of links.
 */
export const lint = (
  dashboards: ReadonlyMap<string, unknown>,
  those: readonly string[] = [...dashboards.keys()],
): readonly Finding[] => {
  const found: Finding[] = []
  const read: (readonly [string, Dashboard])[] = []
  for (const name of those) {
    const { data, error } = dashboardSchema.safeParse(dashboards.get(name))
    if (data) read.push([name, data])
    for (const { path, message } of error?.issues ?? [])
      found.push(finding('shape', name, `${path.join('.') || 'the whole'}: ${message}`))
  }
  // A dashboard with an invalid shape can still be a link target.
  const all = [...dashboards.values()].flatMap((json) => landmarkSchema.safeParse(json).data ?? [])
  for (const [name, dashboard] of read) {
    found.push(
      ...lintFrame(name, dashboard),
      ...lintPanels(name, dashboard),
      ...lintExpressions(name, dashboard),
      ...lintLinks(name, dashboard, all),
      ...lintContrast(name, dashboard),
    )
  }
  return found
}
