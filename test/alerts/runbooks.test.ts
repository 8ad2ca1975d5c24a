import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { metrics } from '../../src/metrics.ts'
import { LOG_PATTERNS } from '../../src/parsers/log-patterns/list.ts'
import { it } from '../support/directory.ts'
import { run } from '../support/programs.ts'
import { requirePrometheus, promtool } from '../support/prometheus.ts'
import { parse } from 'yaml'
import { addressOf, ALERTS, alerts, RUNBOOKS } from './files.ts'

/** Lines of an exposition: each metric with the possible text after its name. */
const SERIES = Object.entries(metrics).flatMap(([metric, { type }]) =>
  type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${metric}_${part}`) : [metric],
)
const PATTERNS = LOG_PATTERNS.map(({ name }) => name)
/** Labels by which a command selects from metrics that it does not name. */
const LABELS = ['event="', 'pattern="', 'service="']

/** All beginnings that an extended regular expression of grep can match: groups and alternatives are expanded. */
const writeOut = (expression: string): readonly string[] => {
  const read = (from: number): { readonly words: readonly string[]; readonly end: number } => {
    const done: string[] = []
    let words: readonly string[] = ['']
    let at = from
    while (at < expression.length && expression[at] !== ')') {
      if (expression[at] === '(') {
        const { words: inner, end } = read(at + 1)
        const optional = expression[end + 1] === '?'
        words = words.flatMap((word) => [...inner, ...(optional ? [''] : [])].map((one) => word + one))
        at = end + (optional ? 2 : 1)
      } else if (expression[at] === '|') {
        done.push(...words)
        words = ['']
        at += 1
      } else {
        const length = expression[at] === '\\' ? 2 : 1
        words = words.map((word) => word + expression.slice(at, at + length))
        at += length
      }
    }
    return { words: [...done, ...words], end: at }
  }
  return read(0).words
}

/** In a basic expression characters without a backslash are literal. */
const extended = (basic: string): string =>
  basic.replaceAll(/\\?[()|]/g, (found) => (found.length === 2 ? found.slice(1) : `\\${found}`))

/** The patterns that the commands of a runbook search in the metrics of the agent or the query service. */
const lookedFor = (page: string): readonly string[] =>
  page
    .split('\n')
    .filter((line) => /localhost:(?:9843|9144)\/metrics/.test(line))
    .flatMap((line) => [...line.matchAll(/grep (-E )?(?:'([^']*)'|([a-z_]+))/g)])
    .flatMap(([, isExtended, quoted, word]) => {
      const expression = quoted ?? word ?? ''
      return writeOut(isExtended === undefined ? extended(expression) : expression)
    })

const finds = (wanted: string): boolean => {
  const anchored = wanted.startsWith('^')
  if (wanted.startsWith('pattern="')) return PATTERNS.some((name) => wanted === `pattern="${name}"`)
  if (LABELS.some((label) => wanted.startsWith(label))) return true
  const [name = ''] = wanted.replace('^', '').split(/[{.*\\ ]/)
  if (!name.startsWith('chain_')) {
    return !anchored && [...SERIES, ...PATTERNS].some((one) => one.includes(name))
  }
  return SERIES.some((one) => one.startsWith(name))
}

const pages = readdirSync(RUNBOOKS).filter((file) => file !== 'index.md')

describe('the commands of the runbooks', () => {
  it.each(pages)('%s searches only existing metrics', (file) => {
    const wanted = lookedFor(readFileSync(join(RUNBOOKS, file), 'utf8'))
    expect(wanted.filter((one) => !finds(one))).toEqual([])
  })

  it.each(pages)('%s does not sort the log of a service by its priority, which is one for all lines', (file) => {
    expect(readFileSync(join(RUNBOOKS, file), 'utf8')).not.toMatch(/journalctl[^|\n]* -p /)
  })
})

const prometheusPart = (page: string): string => /^## In Prometheus$([\s\S]*?)^## /m.exec(page)?.[1] ?? ''

/** In blocks, or for each `why` of a page in an item of a list. */
const expressionsOf = (page: string): readonly (readonly string[])[] => {
  const part = prometheusPart(page)
  const blocks = [...part.matchAll(/^```promql\n([\s\S]*?)^```$/gm)].map(([, expression = '']) => expression.trim())
  const items = [...part.matchAll(/^- (?:without `why`|`[a-z-]+`): (.*)$/gm)].map(([, list = '']) =>
    [...list.matchAll(/`([^`]+)`/g)].map(([, expression = '']) => expression),
  )
  return blocks.length > 0 ? [blocks] : items
}

const withPrometheus = await requirePrometheus()

withPrometheus('the expressions of the runbooks', () => {
  it('are valid, in the opinion of promtool, and at most three for a row', async ({ directory }) => {
    const all = pages.flatMap((file) => expressionsOf(readFileSync(join(RUNBOOKS, file), 'utf8')))
    expect(all.filter((one) => one.length === 0 || one.length > 3)).toEqual([])
    const rules = all.flat().map((expr, index) => ({ record: `runbook:expression:${index}`, expr }))
    const file = join(directory, 'expressions.json')
    const check = async (list: readonly object[]) => {
      await writeFile(file, JSON.stringify({ groups: [{ name: 'runbooks', rules: list }] }))
      return run(await promtool(), ['check', 'rules', file])
    }
    const { code, stdout, stderr } = await check(rules)
    expect(code, stdout + stderr).toBe(0)
    expect((await check([...rules, { record: 'a:b:c', expr: 'rate(up[5m]' }])).code).not.toBe(0)
  })
})

const panelSchema = z.object({ id: z.number().optional(), title: z.string().optional() })
const dashboardSchema = z.object({
  uid: z.string(),
  title: z.string(),
  panels: z.array(panelSchema.extend({ panels: z.array(panelSchema).optional() })),
})

describe('the panels of the runbooks', () => {
  const dashboards = readdirSync('dashboards')
    .filter((file) => file.endsWith('.json') && file !== 'tsconfig.json')
    .map((file) => dashboardSchema.parse(JSON.parse(readFileSync(join('dashboards', file), 'utf8'))))
  const known = dashboards.flatMap(({ uid, title: dashboard, panels }) =>
    panels
      .flatMap((panel) => [panel, ...(panel.panels ?? [])])
      .map(({ id, title }) => `Panel **${title}** of the dashboard **${dashboard}**: \`/d/${uid}?viewPanel=${id}\``),
  )
  const named = pages.flatMap((file) =>
    [...prometheusPart(readFileSync(join(RUNBOOKS, file), 'utf8')).matchAll(/^Panel .*$/gm)].map(([line]) => line),
  )

  it('exist', () => {
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter((line) => !known.includes(line))).toEqual([])
  })

  it('are those that show the alert', () => {
    const panelOf = (alert: string) =>
      /^Panel \*\*(.*?)\*\*/m.exec(readFileSync(join(RUNBOOKS, `${alert}.md`), 'utf8'))?.[1]
    expect(panelOf('ChainBlockStalled')).toBe('Age of the newest block')
    expect(panelOf('ChainKeyFile')).toBe('Key files')
    expect(panelOf('ChainBlind')).toBe('Alerts that fire')
    // The alert is not about a node, so no dashboard lists it.
    expect(panelOf('ChainMonitoringFailing')).toBeUndefined()
  })
})

it.each([
  ['ChainBehind', [['instance:chain_behind:seconds']]],
  // Two severities with one expression, and the condition after `and`.
  ['ChainIsolated', [['chain_native_sessions{state="transport"}', 'chain_native_peers']]],
  // The row without `why` comes first. What is missing, and not what selects the nodes.
  [
    'ChainAgentAbsent',
    [['chain_agent_build_info{job="chain-agent"}', 'up{job="chain-agent"}'], ['up{job="chain-agent"}']],
  ],
])('%s: what the alert measures, without limits and exceptions', (alert, expected) => {
  expect(expressionsOf(readFileSync(join(RUNBOOKS, `${alert}.md`), 'utf8'))).toEqual(expected)
})

/** Commands that only root may run, in code of a page. */
const ROOT_ONLY =
  /\b(?:systemctl (?:start|stop|restart|reboot|enable|disable|mask|unmask|edit|daemon-reload|reset-failed)\b|apt(?:-get)? (?:install|remove|upgrade|clean)\b|apt-mark (?:un)?hold |(?:mount|umount|reboot|poweroff|shutdown) [/-]|sysctl (?:-w|\S+=)|nvme (?:smart-log|list|format)|smartctl |journalctl --vacuum|ufw (?:allow|deny|delete|status)|chown |install -[dom] )/

/** The commands of a page, in blocks and between backticks, that need root and do not ask for it. */
const withoutSudo = (page: string): readonly string[] =>
  [...page.matchAll(/^```\w*\n([\s\S]*?)^```$|`([^`]+)`/gm)]
    .flatMap(([, block = '', inline = '']) => `${block}\n${inline}`.split(/\n|&&|\|\||[|;]/))
    .filter((command) => ROOT_ONLY.test(command) && !/\bsudo\b/.test(command))

it.each(pages)('%s has sudo with the commands that need root', (file) => {
  expect(withoutSudo(readFileSync(join(RUNBOOKS, file), 'utf8'))).toEqual([])
})

/** The mitigation of a page up to its first restart of consensus; undefined without one. */
const beforeRestart = (page: string): string | undefined => {
  const [before, ...rest] = (page.split('## Mitigation\n')[1] ?? '').split('systemctl restart chain-bft')
  return rest.length === 0 ? undefined : before
}

it('before a mitigation restarts the node, the agent is asked whether a restart is right', () => {
  const restarting = pages.flatMap((file) => beforeRestart(readFileSync(join(RUNBOOKS, file), 'utf8')) ?? [])
  expect(restarting.length).toBeGreaterThan(1)
  for (const before of restarting) expect(before).toMatch(/chain-agent (?:recover|restart-window)/)
})

describe('the index', () => {
  const index = readFileSync(join(RUNBOOKS, 'index.md'), 'utf8')
  const partOf = (heading: string): string => index.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''

  it('has every cause before what Alertmanager inhibits because of it', () => {
    const lines = partOf('If several alerts fire').match(/^\d+\. .*$/gm) ?? []
    const place = (alert: string): number => lines.findIndex((line) => line.includes(`[${alert}]`))
    const file = z
      .object({
        inhibit_rules: z.array(
          z.object({ source_matchers: z.array(z.string()), target_matchers: z.array(z.string()) }),
        ),
      })
      .parse(parse(readFileSync(join(ALERTS, 'alertmanager.yaml'), 'utf8')))
    const valuesOf = (label: string, matchers: readonly string[]): readonly string[] | undefined =>
      matchers.flatMap((one) => new RegExp(`^${label}=~?"(.*)"$`).exec(one)?.[1] ?? [])[0]?.split('|')
    const namesIn = (matchers: readonly string[]): readonly string[] =>
      [...new Set(alerts.map(({ alert, labels }) => ({ alert, why: labels?.['why'] ?? '' })))]
        .filter(({ alert, why }) => {
          const isMatched = (label: string, value: string) => valuesOf(label, matchers)?.includes(value)
          return isMatched('alertname', alert) === true && (isMatched('why', why) ?? true)
        })
        .map(({ alert, why }) => addressOf({ alert, labels: why === '' ? {} : { why } }))
    const pairs = file.inhibit_rules.flatMap(({ source_matchers: sources, target_matchers: targets }) =>
      namesIn(sources).flatMap((cause) => namesIn(targets).map((alert) => ({ cause, alert }))),
    )
    expect(pairs.length).toBeGreaterThan(50)
    expect(pairs.filter(({ cause }) => place(cause) === -1)).toEqual([])
    expect(pairs.filter(({ cause, alert }) => place(alert) !== -1 && place(alert) <= place(cause))).toEqual([])
  })

  it('leads from a symptom to alerts', () => {
    const rows = partOf('By symptom').match(/^\| [A-Z].*$/gm) ?? []
    expect(rows.length).toBeGreaterThan(15)
    const linked = rows.flatMap((row) => [...row.matchAll(/\]\((\w+\.md)(?:#[\w-]+)?\)/g)].map(([, page = '']) => page))
    expect(linked.filter((page) => !pages.includes(page))).toEqual([])
  })
})
