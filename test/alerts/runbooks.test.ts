import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { metrics } from '../../src/metrics.ts'
import { LOG_PATTERNS } from '../../src/parsers/log-patterns/list.ts'
import { it } from '../support/directory.ts'
import { run } from '../support/programs.ts'
import { requirePrometheus, promtool } from '../support/prometheus.ts'
import { RUNBOOKS } from './files.ts'

/** Lines of an exposition: each metric with the possible text after its name. */
const SERIES = Object.entries(metrics).flatMap(([metric, { type }]) =>
  type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${metric}_${part}`) : [metric],
)
const PATTERNS = LOG_PATTERNS.map(({ name }) => name)
/** Labels by which a command selects from metrics that it does not name. */
const LABELS = ['event="', 'pattern="', 'service="']

/** All beginnings that an expression of grep can match: its groups and alternatives, the innermost first. */
const writeOut = (expression: string): readonly string[] => {
  const [group, alternatives = '', optional] = /\(([^()]*)\)(\?)?/.exec(expression) ?? []
  if (group === undefined) return expression.split('|')
  const words = [...alternatives.split('|'), ...(optional === undefined ? [] : [''])]
  return words.flatMap((word) => writeOut(expression.replace(group, () => word)))
}

/** The patterns that the commands of a runbook search in the metrics of the agent or the query service. */
const lookedFor = (page: string): readonly string[] =>
  page
    .split('\n')
    .filter((line) => /localhost:(?:9843|9144)\/metrics/.test(line))
    .flatMap((line) => [...line.matchAll(/grep (?:-E )?(?:'([^']*)'|([a-z_]+))/g)])
    .flatMap(([, quoted, word]) => writeOut(quoted ?? word ?? ''))

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

const textOf = (file: string): string => readFileSync(join(RUNBOOKS, file), 'utf8')
const pages = readdirSync(RUNBOOKS).filter((file) => file !== 'index.md')

/** The expressions in the section for Prometheus: in a block, or for each `why` of a page in an item of a list. */
const expressionsOf = (page: string): readonly string[] => {
  const [, part = ''] = /^## In Prometheus$([\s\S]*?)^## /m.exec(page) ?? []
  const items = part.match(/(?<=^- (?:without `why`|`[a-z-]+`): ).*$/gm) ?? []
  const found = [...part.matchAll(/^```promql\n([\s\S]*?)^```$/gm), ...items.join('\n').matchAll(/`([^`]+)`/g)]
  return found.map(([, expression = '']) => expression)
}

const withPrometheus = await requirePrometheus()

withPrometheus('the expressions of the runbooks', () => {
  it('are valid, in the opinion of promtool', async ({ directory }) => {
    const all = pages.map((file) => expressionsOf(textOf(file)))
    expect(all.filter(({ length }) => length === 0)).toEqual([])
    const rules = all.flat().map((expr, index) => ({ record: `runbook:expression:${index}`, expr }))
    const file = join(directory, 'expressions.json')
    await writeFile(file, JSON.stringify({ groups: [{ name: 'runbooks', rules }] }))
    const { code, stdout, stderr } = await run(await promtool(), ['check', 'rules', file])
    expect(code, stdout + stderr).toBe(0)
  })
})

/** Commands that only root may run, in code of a page. */
const ROOT_ONLY =
  /\b(?:systemctl (?:start|stop|restart|reboot|enable|disable|mask|unmask|edit|daemon-reload|reset-failed)\b|apt(?:-get)? (?:install|remove|upgrade|clean)\b|apt-mark (?:un)?hold |(?:mount|umount|reboot|poweroff|shutdown) [/-]|sysctl (?:-w|\S+=)|nvme (?:smart-log|list|format)|smartctl |journalctl --vacuum|ufw (?:allow|deny|delete|status)|chown |install -[dom] )/

/** The commands of a page, in blocks and between backticks, that need root and do not ask for it. */
const withoutSudo = (page: string): readonly string[] =>
  [...page.matchAll(/^```\w*\n([\s\S]*?)^```$|`([^`]+)`/gm)]
    .flatMap(([, block = '', inline = '']) => `${block}\n${inline}`.split(/\n|&&|\|\||[|;]/))
    .filter((command) => ROOT_ONLY.test(command) && !/\bsudo\b/.test(command))

describe.each(pages)('the commands of %s', (file) => {
  it('search only existing metrics', () => {
    expect(lookedFor(textOf(file)).filter((one) => !finds(one))).toEqual([])
  })

  it('do not select the log of a service by its priority, which is one for all lines', () => {
    expect(textOf(file)).not.toMatch(/journalctl[^|\n]* -p /)
  })

  it('have sudo if they need root', () => {
    expect(withoutSudo(textOf(file))).toEqual([])
  })
})

/** The mitigation of a page up to its first restart of consensus; undefined without one. */
const beforeRestart = (page: string): string | undefined => {
  const [before, ...rest] = (page.split('## Mitigation\n')[1] ?? '').split('systemctl restart chain-bft')
  return rest.length === 0 ? undefined : before
}

it('before a mitigation restarts the node, the agent is asked whether a restart is right', () => {
  const restarting = pages.flatMap((file) => beforeRestart(textOf(file)) ?? [])
  expect(restarting.length).toBeGreaterThan(1)
  for (const before of restarting) expect(before).toMatch(/chain-agent (?:recover|restart-window)/)
})
