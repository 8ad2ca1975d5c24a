import { frame } from '../frame.ts'
import { agent } from './agent.ts'
import { chain } from './chain.ts'
import { consensus } from './consensus.ts'
import { execution } from './execution.ts'
import { glance } from './glance.ts'
import { host } from './host.ts'
import { queryService } from './query-service.ts'
import { rpc } from './rpc.ts'
import { security } from './security.ts'
import { services } from './services.ts'
import { storage } from './storage.ts'
import { versions } from './versions.ts'

export const node = () =>
  frame({
    uid: 'chain-node',
    title: 'Chain node',
    description: 'One node: is it well, and if not, what is wrong and what to do. Limits are those of the alert rules.',
    from: 'now-6h',
    many: false,
    rows: [glance, chain, consensus, storage, services, versions, rpc, execution, host, security, queryService, agent],
  })
