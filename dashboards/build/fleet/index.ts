import { frame } from '../frame.ts'
import { nodes } from './nodes.ts'
import { services } from './services.ts'
import { versions } from './versions.ts'
import { chainAndDuties, space } from './worst.ts'

export const fleet = () =>
  frame({
    name: 'fleet',
    description:
      'All nodes: which are not healthy, since when, and which versions they run. Limits are those of the alert rules.',
    from: 'now-6h',
    rows: [nodes, services, chainAndDuties, space, versions],
  })
