import { expect, test } from 'vitest'
import { renderMetricsPage } from '../../src/exporter/metrics-page.ts'
import { chapters, metrics } from '../../src/metrics.ts'

test('the page has every metric once, and an introduction for every chapter', () => {
  const page = renderMetricsPage()
  for (const name of Object.keys(metrics)) {
    expect(page.split(`| \`${name}\` |`), name).toHaveLength(2)
  }
  for (const chapter of Object.keys(chapters)) expect(page).toMatch(new RegExp(`## ${chapter}\n\n[A-Zs].+\\.\n`))
})
