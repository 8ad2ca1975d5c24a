// Writes the generated files, then names what a person has to write. With --check it writes nothing and fails if a
// committed file differs. An argument limits it to files whose path begins with it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { renderExampleConfig } from '../.cache/modules/src/config/render.js'
import { RULE_FILES } from '../.cache/modules/src/health/rules/index.js'
import { renderRuleFile } from '../.cache/modules/src/health/rules/render.js'
import { alertsOf } from '../.cache/modules/src/health/rules/rule.js'
import { renderApiPage, renderOpenApi } from './pages/api.mjs'
import { renderCosts } from './pages/costs.mjs'
import { renderConfigurationPage } from './pages/configuration.mjs'
import { renderFormatsPage } from './pages/formats.mjs'
import { renderAlertmanager } from './pages/inhibitions.mjs'
import { renderMetricsPage } from './pages/metrics.mjs'
import { NOT_SHOWN } from './pages/not-shown.mjs'
import { renderNodeDocumentationPage } from './pages/node-documentation.mjs'
import { renderPatternPage } from './pages/patterns.mjs'
import { renderRunbookIndex } from './pages/runbook-index.mjs'
import { renderRunbook } from './pages/runbook-queries.mjs'
import { renderScenarioPage } from './pages/scenarios.mjs'
import { renderSuites } from './pages/suites.mjs'
import { renderOverview } from './pictures/overview.mjs'
import { renderQueryService } from './pictures/query-service.mjs'
import { renderTerminal } from './pictures/terminal.mjs'
import { chapters, metrics as allMetrics } from '../.cache/modules/src/metrics.js'

/**
 * Metrics that are on no dashboard without a reason, and reasons for metrics that are on one or do not exist: a sentence for
 * each.
 */
const panelDuties = (dashboards) => {
  const shown = dashboards.map(({ uid, panels }) => ({ name: uid.replace('chain-', ''), metrics: metricsOf(panels) }))
  const list = 'scripts/pages/not-shown.mjs'
  const unknown = Object.keys(NOT_SHOWN).filter((name) => !(name in allMetrics))
  const duties = Object.values(chapters).flatMap(({ metrics }) => {
    const near = shown.filter((one) => Object.keys(metrics).some((name) => one.metrics.has(name)))
    const folders = near.map(({ name }) => `dashboards/build/${name}/`).join(', ') || 'dashboards/build/'
    return Object.keys(metrics).flatMap((name) => {
      const isShown = shown.some((one) => one.metrics.has(name))
      if (isShown && name in NOT_SHOWN) return [`${name} is on a dashboard: remove it from ${list}`]
      if (isShown || name in NOT_SHOWN) return []
      return [`${name} is on no dashboard: add a panel (${folders}), or the reason in ${list}`]
    })
  })
  return [...duties, ...unknown.map((name) => `${name} is no metric: remove it from ${list}`)]
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

const alertRows = alertsOf(RULE_FILES)

const GENERATED = {
  // First: the index of runbooks reads them.
  ...Object.fromEntries(RULE_FILES.map((file) => [`alerts/${file.name}.rules.yaml`, () => renderRuleFile(file)])),
  'docs/reference/api.md': renderApiPage,
  'docs/reference/configuration.md': renderConfigurationPage,
  'src/parsers/README.md': renderFormatsPage,
  'docs/reference/metrics.md': renderMetricsPage,
  'docs/reference/node-documentation.md': renderNodeDocumentationPage,
  'docs/images/overview.svg': renderOverview,
  'src/parsers/log-patterns/README.md': renderPatternPage,
  'docs/images/query-service.svg': renderQueryService,
  'docs/runbooks/index.md': () => renderRunbookIndex(alertRows),
  'scenarios/README.md': renderScenarioPage,
  'docs/images/terminal.svg': renderTerminal,
  'page/openapi.json': renderOpenApi,
  'config.example.yaml': renderExampleConfig,
  'alerts/alertmanager.yaml': () => renderAlertmanager(readFileSync('alerts/alertmanager.yaml', 'utf8'), alertRows),
  'CONTRIBUTING.md': () => renderSuites(readFileSync('CONTRIBUTING.md', 'utf8')),
  'README.md': () => renderCosts(readFileSync('README.md', 'utf8')),
}

const [only = ''] = process.argv.slice(2).filter((word) => !word.startsWith('-'))

const read = (file) => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

const problems = new Set()
const attempt = async (what, work) => {
  try {
    return await work()
  } catch (error) {
    problems.add(`${what}: ${error.name === 'Error' ? error.message : error.stack}`)
    return undefined
  }
}

const write = async ([file, render]) => {
  const text = await attempt(file, render)
  if (text === undefined || read(file) === text || !file.startsWith(only)) return text
  if (process.argv.includes('--check')) {
    problems.add(`${file} differs from the generated text; run: npm run generate`)
  } else {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    console.log(`wrote ${file}`)
  }
  return text
}

const writeAll = async (files) => {
  const texts = []
  for (const entry of Object.entries(files)) texts.push(await write(entry))
  return texts
}

await writeAll(Object.fromEntries(Object.entries(GENERATED).filter(([file]) => file.startsWith(only))))
// The dashboards read the alert rules from the generated files.
const { DASHBOARDS } = (await attempt('dashboards/build/', () => import('../.cache/dashboards/build.js'))) ?? {}
const texts = await writeAll(DASHBOARDS ?? {})
// Runbooks name panels: without all dashboards they would name others.
const dashboards = DASHBOARDS && !texts.includes(undefined) ? texts.map((text) => JSON.parse(text)) : undefined
for (const alert of new Set(alertRows.map((row) => row.alert))) {
  const file = `docs/runbooks/${alert}.md`
  if (!file.startsWith(only)) continue
  const page = read(file)
  if (page === undefined) problems.add(`${file} is missing: every alert has a runbook, with the sections of the others`)
  else if (dashboards) await write([file, () => renderRunbook(page, alert, { rows: alertRows, dashboards })])
}
for (const duty of dashboards ? panelDuties(dashboards) : []) problems.add(duty)

for (const problem of problems) console.error(problem)
if (problems.size > 0) process.exitCode = 1
