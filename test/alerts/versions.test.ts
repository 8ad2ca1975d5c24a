import { expect, it } from 'vitest'
import { run } from '../support/programs.ts'
import { OLDER, probePrometheus, promtool } from '../support/prometheus.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { ALERTS, testFiles } from './files.ts'

/** `rules.test.ts` runs these tests with the newest version. */
for (const version of OLDER) {
  const describe = await requireRealPart(`Prometheus ${version}`, async () => probePrometheus(version))
  describe(`with Prometheus ${version}`, () => {
    it.each(testFiles)('%s: the rules pass their unit tests', async (name) => {
      const args = ['test', 'rules', `${name}.test.yaml`]
      const { code, stdout, stderr } = await run(await promtool(version), args, { cwd: ALERTS })
      expect(code, stdout + stderr).toBe(0)
    })
  })
}
