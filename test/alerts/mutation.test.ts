import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { run } from '../support/programs.ts'
import { probePrometheus, promtool } from '../support/prometheus.ts'
import { requireRealPart, versionsToTest } from '../support/real-parts.ts'
import { ALERTS, testFiles } from './files.ts'

const describe = await requireRealPart('prometheus', probePrometheus)

const SCRIPT = fileURLToPath(new URL('../../scripts/mutate-alerts.mjs', import.meta.url))
const SLOW = 1_800_000
const found = z.array(
  z.object({
    name: z.string(),
    alerts: z.number(),
    mutants: z.number(),
    survivors: z.array(z.string()),
    scarce: z.array(z.string()),
  }),
)

const mutate = async (name: string, directory = ALERTS) => {
  const args = [SCRIPT, name, '--json', '--promtool', await promtool(), '--directory', directory]
  const { stdout, stderr } = await run(process.execPath, args, { timeout: SLOW })
  const [result] = stdout === '' ? [] : found.parse(JSON.parse(stdout))
  if (!result) throw new Error(`${name}: ${stderr}`)
  return result
}

/** The others take ten minutes: in the project `matrix`, and with `npm run alerts:mutate`. */
const THESE = versionsToTest(['uptime', ...testFiles.filter((name) => name !== 'uptime')])

describe('every mutation of a rule is detected by a test', () => {
  it.each(THESE)('%s', { timeout: SLOW }, async (name) => {
    const { alerts, mutants, survivors, scarce } = await mutate(name)
    console.log(`${name}: ${alerts} alerts, ${mutants} mutants, ${survivors.length} survivors`)
    expect({ survivors, scarce }).toEqual({ survivors: [], scarce: [] })
  })

  it('weak tests are reported', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'chain-weak-'))
    const labels = '{severity: critical, component: sync}'
    await writeFile(
      join(directory, 'weak.rules.yaml'),
      `groups: [{name: weak, rules: [{alert: ChainWeak, expr: chain_x > 60, for: 30s,
        labels: ${labels}, annotations: {summary: S.}}]}]`,
    )
    // A weak test: fires far above the threshold, long after `for`, with no boundary and no case without firing.
    await writeFile(
      join(directory, 'weak.test.yaml'),
      `{rule_files: [weak.rules.yaml], evaluation_interval: 15s, tests: [{interval: 15s,
        input_series: [{series: chain_x, values: 500x40}], alert_rule_test: [{eval_time: 5m,
        alertname: ChainWeak, exp_alerts: [{exp_labels: ${labels}, exp_annotations: {summary: S.}}]}]}]}`,
    )
    const { survivors } = await mutate('weak', directory)
    await rm(directory, { recursive: true })
    expect(survivors.toSorted()).toEqual(
      [
        'ChainWeak (critical): expr: 60 → 120 at 10',
        'ChainWeak (critical): expr: 60 → 30 at 10',
        'ChainWeak (critical): expr: > → >= at 8',
        'ChainWeak (critical): for: 30s → 15s',
        'ChainWeak (critical): for: 30s → 60s',
      ].toSorted(),
    )
  })
})
