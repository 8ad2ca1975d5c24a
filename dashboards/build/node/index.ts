import { frame } from '../frame.ts'
import { chain } from './chain.ts'
import { glance } from './glance.ts'
import { identity } from './identity.ts'
import { findings, work } from './work.ts'

export const node = () =>
  frame({
    name: 'node',
    description:
      'One node: what is wrong, since when, and what else changed then. Limits are those of the alert rules.',
    from: 'now-6h',
    rows: [glance, chain, work, findings, identity],
  })
