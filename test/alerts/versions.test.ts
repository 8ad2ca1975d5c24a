import { expect, it } from 'vitest'
import { openHost } from '../support/host.ts'
import { run } from '../support/programs.ts'
import { OLDER, requirePrometheus, promtool } from '../support/prometheus.ts'
import { checkShipped, CONFIGURATIONS } from '../support/shipped-prometheus.ts'
import { differencesFromPrometheus } from '../scenarios/agreement.ts'
import { ALERTS, testFiles } from './files.ts'

/**
 * Those with what versions of Prometheus may evaluate in another way: counters that start, series that end and return,
 * rates of many series, trends, averages of recorded series.
 */
const SCENARIOS = ['service-crash', 'host-reboot', 'network-noise', 'storage-filling', 'stalled']
/** Every scenario has begun by then; the alerts of most fire. */
const SECONDS = 260
const SCRAPE_S = 15

const looksOf = async (scenario: string) => {
  const host = await openHost({ scenario, second: 0 })
  const looks: { readonly second: number; readonly metrics: string }[] = []
  for (let second = 0; second <= SECONDS; second += 1) {
    if (second % SCRAPE_S === 0) looks.push({ second, metrics: await host.page('/metrics') })
    await host.second()
  }
  return looks
}

/** The other tests do this with the newest version. */
for (const version of OLDER) {
  const describe = await requirePrometheus(version)
  describe(`with Prometheus ${version}`, () => {
    it.each(testFiles)('%s: the rules pass their unit tests', async (name) => {
      const args = ['test', 'rules', `${name}.test.yaml`]
      const { code, stdout, stderr } = await run(await promtool(version), args, { cwd: ALERTS })
      expect(code, stdout + stderr).toBe(0)
    })

    it.each(CONFIGURATIONS)('%s is accepted, with the rules', async (file) => {
      const { code, stdout, stderr } = await checkShipped(file, version)
      expect(code, stderr).toBe(0)
      expect(stdout).toMatch(/SUCCESS: \d+ rules found/)
    })

    it.each(SCENARIOS)('%s fires the same alerts in the agent', async (scenario) => {
      expect(await differencesFromPrometheus(await looksOf(scenario), [], [version])).toBe('')
    })
  })
}
