// Writes the files that repeat what the code knows. With --check it writes nothing, and fails
// where a committed file is not what would be written. A word as argument: only files whose name begins with it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { renderCliPage, renderManualPage } from '../dist/cli/words/cli-page.js'
import { renderExampleConfig } from '../dist/config/example.js'
import { renderCatalogue } from '../dist/exporter/catalogue-page.js'
import { renderPatternPage } from '../dist/parsers/log-pattern-page.js'
import { renderScenarioPage } from '../dist/simulator/scenario/scenario-page.js'
import { DASHBOARDS } from '../.cache/dashboards/build.js'
import { renderRunbookIndex } from './runbook-index.mjs'

const GENERATED = {
  'docs/chain-agent.1': renderManualPage,
  'docs/cli.md': renderCliPage,
  'docs/metrics.md': renderCatalogue,
  'docs/patterns.md': renderPatternPage,
  'docs/runbooks/index.md': renderRunbookIndex,
  'docs/scenarios.md': renderScenarioPage,
  'config.example.yaml': renderExampleConfig,
  ...DASHBOARDS,
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
    console.error(`${file} is not what the code says; write it anew: npm run generate`)
  } else {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    console.log(`wrote ${file}`)
  }
}
