import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ALERTS } from '../alerts/files.ts'
import { run } from '../support/programs.ts'
import { promtool } from '../support/prometheus.ts'
import { committed, dashboardSchema, panelsOf } from './model.ts'
import { openScene, sent } from './resolve.ts'

/** The rules of the state of a node, which the panels read. */
const RECORDING = join(ALERTS, 'recording.rules.yaml')

/** A target of a committed dashboard: its panel, the letter of the target, and the selected node or all. */
interface Figure {
  readonly dashboard: string
  readonly panel: string
  readonly target?: string
  readonly instance?: string
  readonly cluster?: string
}

/** Series → values in promtool's notation, one per minute. */
export type Past = Readonly<Record<string, string>>

/** The expected results: labels → value. */
type Told = Readonly<Record<string, number>>

/** The nodes of all examples: those that the dashboards of several nodes select by default. */
const NODES = ['a', 'b', 'c', 'three', 'four', 'all', 'half', 'few', 'enough']

const VALUES: Readonly<Record<string, readonly string[]>> = {
  job: ['chain-agent'],
  cluster: ['north', 'south'],
  instance: NODES,
}

const api = { labelValues: (label: string) => Promise.resolve(VALUES[label] ?? []) }

const expressionOf = async ({ dashboard: name, panel: title, target, instance, cluster }: Figure) => {
  const dashboard = dashboardSchema.parse(committed().get(name))
  const choose = { ...(instance === undefined ? {} : { instance }), ...(cluster === undefined ? {} : { cluster }) }
  const scene = await openScene(dashboard, api, { now: 0, choose })
  const panel = panelsOf(dashboard).find((one) => one.title === title)
  const found = panel?.targets?.find(({ refId }) => refId === (target ?? 'A'))
  if (!panel || !found) throw new Error(`${name} has no such target of ${title}`)
  return sent(scene, panel, found).expr
}

interface Question {
  readonly past: Past
  /** When it is asked, after the first samples. */
  readonly after?: string
}

/** Expects these results of promtool. */
export const expectFigure = async (figure: Figure, { past, after = '5m' }: Question, results: Told): Promise<void> => {
  const input = Object.entries(past).map(([series, values]) => ({ series: ours(series), values }))
  const expected = Object.entries(results).map(([labels, value]) => ({ labels: ours(labels), value }))
  // Binary fractions are not exact.
  const question = { expr: `round(${await expressionOf(figure)}, 1e-6)`, eval_time: after, exp_samples: expected }
  const tests = [{ interval: '1m', input_series: input, promql_expr_test: [question] }]
  const directory = await mkdtemp(join(tmpdir(), 'chain-figures-'))
  try {
    const file = join(directory, 'figures.yaml')
    await writeFile(file, JSON.stringify({ rule_files: [RECORDING], evaluation_interval: '1m', tests }))
    const { code, stdout, stderr } = await run(await promtool(), ['test', 'rules', file])
    expect(code === 0 ? '' : stdout + stderr).toBe('')
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** With the job of the agent, if none is given; without, after a `=`. */
const ours = (series: string): string =>
  series.startsWith('=')
    ? series.slice(1)
    : series.includes('job=') || series === '{}'
      ? series
      : series.replace('{', '{job="chain-agent",')
