import { createService, type Role, type Service } from './service.ts'

/** How it stands with a node between two lines of its scenario. */
export interface Condition {
  /** How many blocks the node follows behind the network. */
  readonly behind: bigint
  /** Whether consensus follows the network, provided that its service is active. */
  readonly consensusRuns: boolean
  /** Whether the RPC answers with the height it had, whatever the node does. */
  readonly rpcFrozen: boolean
  readonly services: Readonly<Record<Role, Service>>
}

/** A node with which all is well. */
export const createCondition = (beginMs: number): Condition => ({
  behind: 0n,
  consensusRuns: true,
  rpcFrozen: false,
  services: {
    bft: createService('bft', beginMs),
    execution: createService('execution', beginMs),
    rpc: createService('rpc', beginMs),
    'ledger-tail': createService('ledger-tail', beginMs),
    otelcol: createService('otelcol', beginMs),
  },
})
