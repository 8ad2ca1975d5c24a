// Writes the generated files. With --check it writes nothing and fails if a committed file differs. An argument limits
// it to files whose path begins with it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { renderExampleConfig } from '../.cache/modules/src/config/render.js'
import { RULE_FILES } from '../.cache/modules/src/health/rules/index.js'
import { renderAlertmanager } from '../.cache/modules/src/health/rules/inhibitions.js'
import { renderRuleFile } from '../.cache/modules/src/health/rules/render.js'
import { DASHBOARDS } from '../.cache/dashboards/build.js'
import { renderApiPage, renderOpenApi } from './pages/api.mjs'
import { renderConfigurationPage } from './pages/configuration.mjs'
import { renderCliPage, renderManualPage } from './pages/command-line.mjs'
import { renderFormatsPage } from './pages/formats.mjs'
import { renderMetricsPage } from './pages/metrics.mjs'
import { renderNodeDocumentationPage } from './pages/node-documentation.mjs'
import { renderPatternPage } from './pages/patterns.mjs'
import { renderRunbookIndex } from './pages/runbook-index.mjs'
import { renderRunbook } from './pages/runbook-queries.mjs'
import { renderScenarioPage } from './pages/scenarios.mjs'
import { renderOverview } from './pictures/overview.mjs'
import { renderQueryService } from './pictures/query-service.mjs'
import { renderTerminal } from './pictures/terminal.mjs'

const alertRows = RULE_FILES.flatMap(({ groups }) =>
  groups.flatMap(({ rules }) => rules.filter((row) => 'alert' in row)),
)

let runbookSources
const readRunbookSources = () =>
  (runbookSources ??= {
    rows: alertRows,
    dashboards: Object.values(DASHBOARDS).map((render) => JSON.parse(render())),
  })

const GENERATED = {
  'docs/reference/api.md': renderApiPage,
  'docs/reference/chain-agent.1': renderManualPage,
  'docs/reference/cli.md': renderCliPage,
  'docs/reference/configuration.md': renderConfigurationPage,
  'docs/reference/formats.md': renderFormatsPage,
  'docs/reference/metrics.md': renderMetricsPage,
  'docs/reference/node-documentation.md': renderNodeDocumentationPage,
  'docs/images/overview.svg': renderOverview,
  'docs/reference/patterns.md': renderPatternPage,
  'docs/images/query-service.svg': renderQueryService,
  'docs/runbooks/index.md': () => renderRunbookIndex(alertRows),
  'docs/reference/scenarios.md': renderScenarioPage,
  'docs/images/terminal.svg': renderTerminal,
  'page/openapi.json': renderOpenApi,
  'config.example.yaml': renderExampleConfig,
  'alerts/alertmanager.yaml': () => renderAlertmanager(readFileSync('alerts/alertmanager.yaml', 'utf8'), alertRows),
  ...Object.fromEntries(RULE_FILES.map((file) => [`alerts/${file.name}.rules.yaml`, () => renderRuleFile(file)])),
  ...DASHBOARDS,
  ...Object.fromEntries(
    [...new Set(alertRows.map(({ alert }) => alert))].map((alert) => {
      const file = `docs/runbooks/${alert}.md`
      return [file, () => renderRunbook(readFileSync(file, 'utf8'), alert, readRunbookSources())]
    }),
  ),
}

const [only = ''] = process.argv.slice(2).filter((word) => !word.startsWith('-'))

const read = (file) => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

for (const [file, render] of Object.entries(GENERATED)) {
  if (!file.startsWith(only)) continue
  const text = await render()
  if (read(file) === text) continue
  if (process.argv.includes('--check')) {
    process.exitCode = 1
    console.error(`${file} differs from the generated text; run: npm run generate`)
  } else {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    console.log(`wrote ${file}`)
  }
}
