import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { run } from '../support/programs.ts'
import { requirePrometheus, promtool } from '../support/prometheus.ts'
import { ALERTS, testFiles } from './files.ts'

const describe = await requirePrometheus()

/** It compares the nodes of all clusters: two nodes with one key are a fault wherever they are. */
const ACROSS_CLUSTERS = 'ChainIdentityTwice'

const labels = z.record(z.string(), z.string())
const unitTests = z.looseObject({
  rule_files: z.array(z.string()),
  tests: z.array(
    z.looseObject({
      input_series: z.array(z.looseObject({ series: z.string() })).default([]),
      alert_rule_test: z
        .array(
          z.looseObject({
            alertname: z.string(),
            exp_alerts: z
              .array(z.looseObject({ exp_labels: labels.optional(), exp_annotations: labels.optional() }))
              .optional(),
          }),
        )
        .optional(),
      promql_expr_test: z.array(z.unknown()).optional(),
    }),
  ),
})

const withCluster = (series: string, cluster: string): string =>
  series.includes('{')
    ? series.replace('{', `{cluster="${cluster}",`).replace(',}', '}')
    : `${series}{cluster="${cluster}"}`

/** Links to the dashboard of a node select its cluster. */
const linkedTo = (cluster: string, annotations: Readonly<Record<string, string>> = {}) => ({
  ...annotations,
  dashboard_url: annotations['dashboard_url']?.replace('&var-instance=', `&var-cluster=${cluster}&var-instance=`) ?? '',
})

const CLUSTERS = ['north', 'south']

/** The unit tests with each series and each expected alert once for each cluster. */
const inClusters = async (name: string) => {
  const all = unitTests.parse(parse(await readFile(join(ALERTS, `${name}.test.yaml`), 'utf8')))
  // Those about several clusters have them already.
  const single = all.tests.filter(({ input_series: of }) => of.every(({ series }) => !series.includes('cluster=')))
  const tests = single.map(
    ({ promql_expr_test: _expressions, input_series: series, alert_rule_test: alerts, ...rest }) => ({
      ...rest,
      input_series: series.flatMap((each) =>
        CLUSTERS.map((cluster) => ({ ...each, series: withCluster(each.series, cluster) })),
      ),
      alert_rule_test: (alerts ?? [])
        .filter(({ alertname }) => alertname !== ACROSS_CLUSTERS)
        .map((each) => ({
          ...each,
          // Without any series no cluster is known.
          exp_alerts:
            series.length === 0
              ? each.exp_alerts
              : (each.exp_alerts ?? []).flatMap((alert) =>
                  CLUSTERS.map((cluster) => ({
                    ...alert,
                    exp_labels: { ...alert.exp_labels, cluster },
                    exp_annotations: linkedTo(cluster, alert.exp_annotations),
                  })),
                ),
        })),
    }),
  )
  return { ...all, rule_files: all.rule_files.map((file) => join(ALERTS, file)), tests }
}

describe('a fleet of several clusters', () => {
  // A rule that matches without the cluster fails for both: several series on each side.
  it.each(testFiles)('%s: every alert has the cluster of its series, with the same instance in two', async (name) => {
    const folder = await mkdtemp(join(tmpdir(), 'chain-agent-fleet-'))
    onTestFinished(async () => rm(folder, { recursive: true }))
    const file = join(folder, `${name}.yaml`)
    await writeFile(file, JSON.stringify(await inClusters(name)))
    const { code, stdout, stderr } = await run(await promtool(), ['test', 'rules', file], { timeout: 800_000 })
    expect(code, stdout + stderr).toBe(0)
  })
})
