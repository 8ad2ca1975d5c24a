import { frame } from '../frame.ts'
import { overview } from '../overview.ts'
import { chain } from './chain.ts'
import { consensus } from './consensus.ts'
import { execution } from './execution.ts'
import { peers } from './peers.ts'
import { rpc, traffic } from './rpc.ts'
import { sync } from './sync.ts'

/** The detail of one node: what delays or stops its blocks. */
export const consensusDashboard = () =>
  frame({
    name: 'consensus',
    description: 'One node in detail: chain, consensus, peers, RPC and execution. Limits are those of the alert rules.',
    from: 'now-6h',
    rows: [overview, consensus, execution, chain, peers, rpc, traffic, sync],
  })
