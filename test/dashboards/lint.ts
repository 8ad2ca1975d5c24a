import { type Finding, finding } from './findings.ts'
import { lintExpressions } from './lint/expressions.ts'
import { dashboardSchema, type Panel, panelsOf, titleOf } from './model.ts'

/** Findings that need no Prometheus. `dashboards`: name → JSON. */
export const lint = (dashboards: ReadonlyMap<string, unknown>): readonly Finding[] =>
  [...dashboards].flatMap(([name, json]) => {
    const dashboard = dashboardSchema.parse(json)
    return [
      ...panelsOf(dashboard).flatMap((panel) =>
        wordsOf(panel).map((what) => finding('words', `${name}, panel ${titleOf(panel)}`, what)),
      ),
      ...lintExpressions(name, dashboard),
    ]
  })

/** Characters of a description without its links. */
const FEWEST_LETTERS = 40
const RUNBOOK = /\]\([^)]*\/runbooks\/\w+(?:#[\w-]+)?\)/

const wordsOf = ({ description = '' }: Panel): readonly string[] => {
  const words = description.replaceAll(/\[[^\]]*\]\([^)]*\)/g, '')
  if (words.length < FEWEST_LETTERS)
    return ['its description is missing or too short; expected what it shows and what to do']
  return RUNBOOK.test(description)
    ? []
    : ['its description names no alert with a runbook; expected at least one link to what to do']
}
