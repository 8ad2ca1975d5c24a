import { sample, type Sample, type SampleIndex } from '../core/metric.ts'

/** What the node is for: some alerts depend on it. */
export const NODE_ROLES = ['validator', 'full-node', 'rpc'] as const
type NodeRole = (typeof NODE_ROLES)[number]

/** The role as a state set; no samples while it is unknown. */
export const roleSamples = (configured: NodeRole | 'auto', known: SampleIndex): readonly Sample[] => {
  const role = configured === 'auto' ? detectRole(known) : configured
  return role === undefined ? [] : NODE_ROLES.map((one) => sample('chain_node_role', one === role, { role: one }))
}

/** By stake and votes; the stake is absent until consensus is live. */
const detectRole = (known: SampleIndex): NodeRole | undefined => {
  const stake = known.value('chain_native_stake_ratio')
  const signs = known.series('chain_duty_identity_active').some(({ value }) => value === 1)
  if (signs || (stake !== undefined && stake > 0)) return 'validator'
  return stake === 0 ? 'full-node' : undefined
}
