import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { LOG_PATTERNS } from '../../src/parsers/log-patterns/list.ts'
import { lintSelectors, knownLabels } from '../dashboards/lint/expressions.ts'
import { run } from '../support/programs.ts'
import { requirePrometheus, promtool } from '../support/prometheus.ts'
import { ALERTS, alerts, expectations, rowOf, ruleFiles, rules, RUNBOOKS, testFiles } from './files.ts'
import { anchorOf } from '../../src/exporter/page/markdown.ts'
import { readPromql } from '../support/promql.ts'

const describe = await requirePrometheus()

/** In this order; those of a `why` come after the mitigation. */
const SECTIONS = ['Meaning', 'Diagnosis', 'In Prometheus', 'Mitigation', 'When to escalate']
/** Of a name that has a row without `why`; each other row can have its own. */
const SECTIONS_OF_A_ROW = ['Impact', 'Threshold']
const MAX_LINES = 120

/** Syntax in a rule that Prometheus 2.42 rejects or 3.x interprets differently. */
const INCOMPATIBLE = [
  /\bholt_winters\b|\bdouble_exponential_smoothing\b|\blimitk\b|\bmad_over_time\b|\bsort_by_label\b/,
  /\binfo\s*\(|\bhistogram_(?:avg|stddev|stdvar)\b/,
  /\ble\s*=~?\s*"\d+"/,
  /count_over_time\([^)]*\)\s*==/,
  /\d_\d|[<>]=?\s*\d+[smhd]\b|\[\d+\]|\{"/,
]

describe('the rules', () => {
  it.each(ruleFiles)('%s: promtool reports no error', async (name) => {
    const file = join(ALERTS, `${name}.rules.yaml`)
    const args = ['check', 'rules', '--lint=all', '--lint-fatal', file]
    const { code, stdout, stderr } = await run(await promtool(), args)
    expect(code, stdout + stderr).toBe(0)
  })

  it.each(testFiles)('%s: its rules exist and pass their unit tests', async (name) => {
    const args = ['test', 'rules', `${name}.test.yaml`]
    const { code, stdout, stderr } = await run(await promtool(), args, { cwd: ALERTS })
    expect(code, stdout + stderr).toBe(0)
    expect(stderr).not.toMatch(/no file match/i)
  })

  it.each(alerts)('$alert $labels.why: labels, annotations, runbook', ({ alert, labels, annotations }) => {
    expect(alert).toMatch(/^Chain[A-Z]\w+$/)
    const { summary = '', description = '', action = '', deadline, runbook_url: url = '' } = annotations ?? {}
    // The first line of a message is exact: it says what the row is, without its `why`.
    expect(summary).not.toMatch(/\$labels\.why/)
    // A phrase, whose values are labels: the first line of a message has at most 90 characters with a node of ten.
    expect(summary).not.toMatch(/\.$|\$value/)
    expect(`CRITICAL node-0001: ${summary.replaceAll(/\{\{.*?\}\}/g, 'execution')}`.length).toBeLessThanOrEqual(90)
    if (labels?.['severity'] !== 'none') expect(action).toMatch(/[.?`]$|\}\}$/)
    // A node has one recovery: the deadline belongs to it.
    expect(deadline !== undefined).toBe(action.includes('chain_node_recovery_info'))
    expect(description.length).toBeGreaterThan(40)
    const why = labels?.['why']
    expect(url.endsWith(why === undefined ? `/${alert}` : `/${alert}#${why}`), url).toBe(true)
    const page = readFileSync(join(RUNBOOKS, `${alert}.md`), 'utf8')
    expect(page).toMatch(new RegExp(`^# ${alert}$`, 'm'))
    expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(MAX_LINES)
    const sections = [...page.matchAll(/^## (.*)$/gm)].map(([, title = '']) => title)
    expect(sections.filter((title) => SECTIONS.includes(title))).toEqual(SECTIONS)
    if (why === undefined) expect(sections).toEqual(expect.arrayContaining(SECTIONS_OF_A_ROW))
    else expect(sections.map(anchorOf)).toContain(why)
  })

  it('have at most 60 names', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBeLessThanOrEqual(60)
  })

  it('every runbook belongs to an alert', () => {
    const pages = readdirSync(RUNBOOKS)
      .filter((file) => file !== 'index.md')
      .map((file) => file.replace(/\.md$/, ''))
    expect(pages.toSorted()).toEqual([...new Set(alerts.map(({ alert }) => alert))].toSorted())
  })

  it.each(ruleFiles.filter((name) => name !== 'recording'))(
    '%s: each row is expected to fire, with each severity, and to be silent',
    (name) => {
      const expected = expectations(name)
      for (const { alert, labels } of alerts.filter(({ file }) => file === name)) {
        const of = expected.filter((one) => one.alert === alert).map(({ rows }) => rows.includes(rowOf(labels ?? {})))
        const named = `${alert} ${rowOf(labels ?? {})}`
        expect(of.includes(true), `${named} fires`).toBe(true)
        // An alert that always fires has no test without firing.
        if (labels?.['severity'] !== 'none') expect(of.includes(false), `${named} is silent`).toBe(true)
      }
      const names = alerts.map(({ alert }) => alert)
      expect(expected.map(({ alert }) => alert).filter((one) => !names.includes(one))).toEqual([])
    },
  )

  it('page under at most 30 names', () => {
    const paging = alerts.filter(({ labels }) => labels?.['severity'] === 'critical').map(({ alert }) => alert)
    expect(new Set(paging).size).toBeLessThanOrEqual(30)
  })

  it('use no syntax that Prometheus 2.42 rejects or 3.x changes', () => {
    for (const { expr } of rules) {
      for (const pattern of INCOMPATIBLE) expect(expr).not.toMatch(pattern)
    }
  })
})

describe('the catalogue and the rules', () => {
  it('every metric in a rule is exposed or recorded, with these labels and values', () => {
    const found = rules.flatMap(({ expr }) => lintSelectors(expr)).map(({ what }) => what)
    expect(found.filter((what) => !/ records (?:prometheus|alertmanager)_/.test(what))).toEqual([])
  })

  it('every grouping is by existing labels', () => {
    const grouped = rules.flatMap(({ expr }) => readPromql(expr).groupings)
    expect(grouped.filter((label) => label !== 'integration' && !knownLabels.has(label))).toEqual([])
  })

  it('every trouble pattern has a rule, and every pattern in a rule exists', () => {
    const named = rules.flatMap(({ expr }) =>
      [...expr.matchAll(/\bpattern=~?"([^"]+)"/g)].flatMap(([, names = '']) => names.split('|')),
    )
    const known = LOG_PATTERNS.map(({ name }) => name)
    expect(named.filter((name) => !known.includes(name))).toEqual([])
    const troubles = LOG_PATTERNS.filter(({ severity }) => severity !== 'info')
    expect(troubles.map(({ name }) => name).filter((name) => !named.includes(name))).toEqual([])
  })
})
