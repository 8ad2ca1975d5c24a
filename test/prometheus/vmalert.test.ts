import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { alerts, ruleFiles } from '../alerts/files.ts'
import { installShipped } from '../support/shipped-prometheus.ts'
import { requireVictoria, rejectedByVmalert, VICTORIAS } from '../support/victoria.ts'

for (const version of VICTORIAS) {
  const describe = await requireVictoria(version)
  describe(`vmalert ${version}`, () => {
    it('loads the rules, from 1.92 on also those that keep firing', async () => {
      const directory = await installShipped()
      const rejected: string[] = []
      for (const name of ruleFiles) {
        const errors = await rejectedByVmalert([join(directory, 'chain-agent', `${name}.rules.yaml`)], version)
        if (errors === '') continue
        rejected.push(name)
        expect(errors).toContain('unknown fields in rule: keep_firing_for')
      }
      await rm(directory, { recursive: true })
      const keeps = alerts.filter((alert) => alert.keep_firing_for !== undefined).map(({ file }) => file)
      expect(rejected).toEqual(version === '1.79' ? ruleFiles.filter((name) => keeps.includes(name)) : [])
      expect(keeps.length).toBeGreaterThan(0)
    })
  })
}
