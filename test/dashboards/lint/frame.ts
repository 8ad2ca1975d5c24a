import { type Finding, finding } from '../findings.ts'
import { type Dashboard, panelsOf, queryOf, titleOf, type Variable } from '../model.ts'

const UID_LENGTH = 40
const COLUMNS = 24
/** Grafana's number for "when the time range changes". */
const ON_TIME_CHANGE = 2
const TAG = 'chain-agent'
const FIRST = 'Alerts that fire'

/** Checks of the dashboard itself: name, variables, panel positions. */
export const lintFrame = (name: string, dashboard: Dashboard): readonly Finding[] => [
  ...lintIdentity(name, dashboard),
  ...lintVariables(name, dashboard),
  ...lintPanelIds(name, dashboard),
  ...lintGrid(name, dashboard),
]

const lintIdentity = (name: string, dashboard: Dashboard): readonly Finding[] => {
  const { uid, tags, editable, annotations, timezone, graphTooltip, schemaVersion } = dashboard
  // A phone has one column: by line, then from left to right. Links need the list of alerts: they find one that is missing.
  const panels = panelsOf(dashboard)
  const isThere = panels.some(({ title }) => title === FIRST)
  const [first] = panels.toSorted((a, b) => a.gridPos.y - b.gridPos.y || a.gridPos.x - b.gridPos.x)
  const expected: readonly (readonly [boolean, string])[] = [
    [uid === `chain-${name}`, `its uid is "${uid}"; expected "chain-${name}", which alerts link to`],
    [uid.length <= UID_LENGTH, `its uid has ${uid.length} characters; expected ${UID_LENGTH} at most`],
    [tags.includes(TAG), `it lacks the tag "${TAG}", by which the dashboards find each other`],
    [schemaVersion === 39, `its schemaVersion is ${schemaVersion}; expected 39, which Grafana 10.4 and later read`],
    [!editable, 'it can be edited in Grafana, and what is edited there is lost; expected editable: false'],
    [timezone === 'browser', `its time zone is "${timezone}"; expected that of the browser`],
    [!isThere || first?.title === FIRST, `"${first?.title ?? ''}" is first on a phone; expected "${FIRST}"`],
    [graphTooltip === 1, 'its panels do not share their cursor; expected graphTooltip: 1'],
  ]
  const sources = annotations.list
    .filter(({ datasource, builtIn }) => builtIn !== 1 && datasource.uid !== '${datasource}')
    .map((one) => `annotation "${one.name}" asks "${one.datasource.uid}"; expected "\${datasource}"`)
  return [
    ...expected.filter(([isSo]) => !isSo).map(([, what]) => finding('frame', name, what)),
    ...sources.map((what) => finding('datasource', name, what)),
  ]
}

const lintVariables = (name: string, dashboard: Dashboard): readonly Finding[] => {
  const { list } = dashboard.templating
  const found: Finding[] = []
  const say = (what: string): number => found.push(finding('variable', name, what))
  for (const wanted of ['datasource', 'job', 'cluster', 'instance']) {
    if (!list.some((variable) => variable.name === wanted)) say(`there is no variable "${wanted}"`)
  }
  const text = JSON.stringify({
    ...dashboard,
    templating: list.map((one) => ({ q: one.query, d: one.datasource })),
  })
  for (const variable of list) {
    for (const what of faultsOf(variable)) say(`variable "${variable.name}" ${what}`)
    if (!new RegExp(`\\$\\{?${variable.name}\\b`).test(text)) say(`variable "${variable.name}" is used nowhere`)
  }
  return found
}

const faultsOf = (variable: Variable): readonly string[] => {
  const { name, type, label = '', datasource, refresh, multi = false, includeAll = false, allValue } = variable
  if (type === 'datasource') {
    const isOurs = queryOf(variable) === 'prometheus' && name === 'datasource'
    return isOurs ? [] : ['is a data source; expected the one called "datasource", of Prometheus']
  }
  const isQuery = type === 'query'
  const checks: readonly (readonly [boolean, string])[] = [
    [label !== '', 'has no label; expected a word for people'],
    [!isQuery || datasource?.uid === '${datasource}', 'does not ask "${datasource}"'],
    [!isQuery || refresh === ON_TIME_CHANGE, 'is not asked again when the time range changes; expected refresh: 2'],
    [name !== 'job' || !multi, 'is multi; expected one job'],
    [
      name !== 'instance' || allValue === undefined,
      `has the value "${allValue ?? ''}" for all; expected none, so that the cluster limits the nodes`,
    ],
    [
      name !== 'cluster' || (includeAll && allValue === '.*'),
      `has the value "${allValue ?? ''}" for all; expected ".*", which also selects nodes without a cluster`,
    ],
  ]
  return checks.filter(([isSo]) => !isSo).map(([, what]) => what)
}

const lintPanelIds = (name: string, { panels }: Dashboard): readonly Finding[] => {
  const all = panels.flatMap((panel) => (panel.type === 'row' ? [panel, ...panel.panels] : [panel]))
  const seen = new Set<number>()
  const found: Finding[] = []
  for (const panel of all) {
    if (seen.has(panel.id))
      found.push(finding('identity', `${name}, panel ${titleOf(panel)}`, `another panel has its id ${panel.id}, too`))
    seen.add(panel.id)
  }
  return found
}

interface Place {
  readonly title: string
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
}

const lintGrid = (name: string, dashboard: Dashboard): readonly Finding[] => {
  const { panels } = dashboard
  const place = (panel: Dashboard['panels'][number]): Place => ({
    title: titleOf(panel),
    gridPos: panel.gridPos,
  })
  // Panels of a collapsed row need space only when the row is opened, and then move the others down.
  const layers = [
    panels.map(place),
    ...panels.flatMap((panel) => (panel.type === 'row' ? [panel.panels.map(place)] : [])),
  ]
  const wide = panelsOf(dashboard)
    .filter(({ gridPos: { x, w } }) => x + w > COLUMNS)
    .map((panel) => finding('grid', `${name}, panel ${titleOf(panel)}`, `it ends beyond the ${COLUMNS} columns`))
  return [...wide, ...layers.flatMap((layer) => overlaps(name, layer))]
}

const overlaps = (name: string, layer: readonly Place[]): readonly Finding[] =>
  layer.flatMap((one, index) =>
    layer
      .slice(index + 1)
      .filter((other) => touch(one.gridPos, other.gridPos))
      .map((other) => finding('grid', `${name}, panel ${other.title}`, `it lies over panel ${one.title}`)),
  )

const touch = (a: Place['gridPos'], b: Place['gridPos']): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
