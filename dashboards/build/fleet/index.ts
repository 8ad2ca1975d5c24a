import { frame } from '../frame.ts'
import { glance } from './glance.ts'
import { nodes } from './nodes.ts'
import { versions } from './versions.ts'
import { chainAndDuties, space } from './worst.ts'

export const fleet = () =>
  frame({
    uid: 'chain-fleet',
    title: 'Chain fleet',
    description:
      'Many nodes: who is gone, who is behind, who misses, who fills up, who runs what. Limits are those of the alert rules.',
    from: 'now-6h',
    many: true,
    rows: [glance, nodes, chainAndDuties, space, versions],
  })
