import type { Api } from './api.ts'
import { type AllowedFinding, type Finding, finding } from './findings.ts'
import { HEALTHY, INSTANCES } from './history.ts'
import { lint } from './lint.ts'
import { type Dashboard, dashboardSchema } from './model.ts'
import { runDashboard } from './run.ts'

interface Check {
  /** Name → JSON. */
  readonly dashboards: ReadonlyMap<string, unknown>
  readonly api: Api
  readonly now: number
  readonly excuses: readonly AllowedFinding[]
}

/** A node with a current incident: no query may be rejected there, whatever data is missing. */
const TROUBLED = 'fullnode-4'

/** All findings about the dashboards and about the list of allowed findings. */
export const checkDashboards = async (check: Check): Promise<readonly Finding[]> => {
  const found = [...lint(check.dashboards)]
  for (const [name, json] of check.dashboards)
    found.push(...(await runEverywhere(name, dashboardSchema.parse(json), check)))
  const { excuses } = check
  return [
    ...found.filter((one) => !excuses.some((excuse) => covers(excuse, one))),
    ...excuses
      .filter((excuse) => !found.some((one) => covers(excuse, one)))
      .map(({ where, rule, reason }) =>
        finding('excuse', where, `it is excused for "${rule}", and needs no excuse: ${reason}`),
      ),
  ]
}

const covers = ({ rule, where }: AllowedFinding, { rule: found, text }: Finding): boolean =>
  rule === found && text.startsWith(`${where}: `)

/** First for the healthy node, or for all nodes if several can be selected; then for those with incidents. */
const runEverywhere = async (
  name: string,
  dashboard: Dashboard,
  { api, now, excuses }: Check,
): Promise<readonly Finding[]> => {
  const run = { name, dashboard, api, now }
  const isOfOne = dashboard.templating.list.some((variable) => variable.name === 'instance' && !variable.multi)
  const seen = await runDashboard(isOfOne ? { ...run, choose: { instance: HEALTHY } } : run)
  const troubled = await runDashboard({ ...run, choose: { instance: TROUBLED } })
  const refused = troubled.filter(({ rule, text }) => rule === 'query' && !seen.some((one) => one.text === text))
  const excused = excuses.filter((excuse) => excuse.rule === 'empty' && seen.some((one) => covers(excuse, one)))
  return [...seen, ...refused, ...(await neverFilled(run, excused))]
}

/** Allowed empty panels that are empty on every node: it is unknown whether they work. */
const neverFilled = async (
  run: Parameters<typeof runDashboard>[0],
  excused: readonly AllowedFinding[],
): Promise<readonly Finding[]> => {
  let left = excused
  for (const instance of INSTANCES) {
    if (left.length === 0) break
    const places = new Set(left.map(({ where }) => where))
    const choose = { instance }
    const seen = await runDashboard({ ...run, choose, only: (where) => places.has(where) })
    left = left.filter((excuse) => seen.some((one) => covers(excuse, one)))
  }
  return left.map(({ where }) =>
    finding('excuse', where, 'it shows nothing on any node of the history; expected one on which it does'),
  )
}
