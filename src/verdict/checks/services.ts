import type { Check } from '../finding.ts'
import { list } from '../words.ts'

/** Services that should run, and do not. */
export const services: Check = ({ known, prefix }) => {
  const down = known
    .series('chain_service_active')
    .filter(({ value }) => value === 0)
    .map(({ labels }) => labels['service'] ?? '')
    .filter((service) => known.value('chain_service_expected', { service }) === 1)
  if (down.length === 0) return []
  const names = down.map((service) => `${prefix ?? 'chain'}-${service}`)
  return [
    {
      name: 'ChainServiceDown',
      severity: 'critical',
      says: `${list(names)} ${down.length === 1 ? 'does' : 'do'} not run`,
      evidence: [],
      advice: [],
      subject: 'work',
    },
  ]
}
