import type { Api } from './engine.ts'
import type { Finding } from './findings.ts'
import { HEALTHY, INSTANCES } from './history.ts'
import { type Dashboard, dashboardSchema } from './model.ts'
import { runDashboard } from './run.ts'

const targets = (panel: string, letters: string): readonly string[] =>
  [...letters].map((letter) => `${panel}, target ${letter}`)

/** Targets that are empty for a healthy node. Each must be, and must show data for another node of the history. */
const EMPTY_WHEN_HEALTHY: readonly string[] = [
  // They are there during statesync alone.
  ...targets('node, panel "Blocks left of statesync"', 'AB'),
  ...targets('consensus, panel "Time left"', 'B'),
  ...targets('consensus, panel "Statesync: blocks"', 'ABCD'),
  ...targets('consensus, panel "Statesync: progress"', 'A'),
  ...targets('consensus, panel "Statesync: last progress"', 'A'),
  // If an alert fires on the healthy node, give the metric of its rule a history in test/dashboards/history/.
  ...['node', 'consensus', 'storage', 'query-service'].flatMap((name) =>
    targets(`${name}, panel "Alerts that fire"`, 'A'),
  ),
  ...targets('node, panel "Exits that were not clean, in an hour"', 'A'),
]

/** A node with a current incident: no query may be rejected there, whatever data is missing. */
const TROUBLED = 'fullnode-4'

const isAbout = (where: string, { rule, text }: Finding): boolean => rule === 'empty' && text.startsWith(`${where}: `)

interface Check {
  /** Name → JSON. */
  readonly dashboards: ReadonlyMap<string, unknown>
  readonly api: Api
  readonly now: number
}

/** All findings about what the dashboards show, and about the list of what is empty. */
export const checkDashboards = async ({ dashboards, ...of }: Check): Promise<readonly string[]> => {
  const found: Finding[] = []
  let left = EMPTY_WHEN_HEALTHY
  for (const [name, json] of dashboards) {
    const run = { name, dashboard: dashboardSchema.parse(json), ...of }
    found.push(...(await runEverywhere(run)))
    left = await emptyOnEach(run, left)
  }
  return [
    ...found.filter((one) => !EMPTY_WHEN_HEALTHY.some((where) => isAbout(where, one))).map(({ text }) => text),
    ...EMPTY_WHEN_HEALTHY.filter((where) => !found.some((one) => isAbout(where, one))).map(
      (where) => `${where}: it is not empty for a healthy node`,
    ),
    ...left.map((where) => `${where}: it shows nothing on any node of the history; expected one on which it does`),
  ]
}

type Run = Parameters<typeof runDashboard>[0]

/** For the healthy node, or for all nodes if several can be selected; then what is rejected for one with an incident. */
const runEverywhere = async (run: Run): Promise<readonly Finding[]> => {
  const seen = await runDashboard(isOfOne(run.dashboard) ? { ...run, choose: { instance: HEALTHY } } : run)
  const troubled = await runDashboard({ ...run, choose: { instance: TROUBLED } })
  const refused = troubled.filter(({ rule, text }) => rule === 'query' && !seen.some((one) => one.text === text))
  return [...seen, ...refused]
}

const isOfOne = ({ templating }: Dashboard): boolean =>
  templating.list.some((variable) => variable.name === 'instance' && !variable.multi)

/** Those of the targets that are empty on every node, and those of other dashboards. */
const emptyOnEach = async (run: Run, targetsLeft: readonly string[]): Promise<readonly string[]> => {
  let left = targetsLeft
  for (const instance of INSTANCES) {
    const own = left.filter((where) => where.startsWith(`${run.name}, `))
    if (own.length === 0) break
    const seen = await runDashboard({ ...run, choose: { instance }, only: (where) => own.includes(where) })
    left = left.filter((where) => !own.includes(where) || seen.some((one) => isAbout(where, one)))
  }
  return left
}
