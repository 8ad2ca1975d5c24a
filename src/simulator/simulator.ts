import type { Clock } from '../core/clock.ts'
import { createChain } from './chain/chain.ts'
import { createJournalctl } from './tools/journalctl.ts'
import { createNode, type SimulatedNode } from './node.ts'
import { createRpcServer, type RpcServer } from './rpc/rpc.ts'
import type { Scenario } from './scenario/scenario.ts'
import { rpcListens } from './scenario/statesync.ts'
import { createStatusTool } from './tools/status-report.ts'
import { createStorageTool } from './tools/storage-report.ts'
import { createSystemctl } from './tools/systemctl.ts'
import { serveTools, type Tool } from './tools/tools.ts'
import { troubled } from './tools/trouble.ts'
import { clientVersionOf, createVersionTool } from './tools/versions.ts'

export interface SimulatorOptions {
  readonly clock: Clock
  /** The maker's word in the names of units and tools. */
  readonly prefix: string
  readonly scenario: Scenario
  /** Where `bin/` and the socket behind it go. */
  readonly directory: string
  /** Ports on the loopback interface; 0 takes a free one. */
  readonly rpcPort: number
  readonly referencePort: number
  /** The same chain for the same seed. */
  readonly seed?: number
  /** The compiled `tool.js` that the tools start; by default the one of the build. */
  readonly toolClient?: string
}

export interface Simulator {
  readonly prefix: string
  readonly rpcUrl: string
  /** Another endpoint of the same chain, always well; answers `GET /height` too. */
  readonly referenceUrl: string
  readonly binDirectory: string
  readonly ownPublicKey: string
  readonly node: SimulatedNode
  close(): Promise<void>
}

/** One node, one reference, and the tools of its host, until it is closed. */
export const createSimulator = async (options: SimulatorOptions): Promise<Simulator> => {
  const { clock, prefix, scenario, directory, seed = 1 } = options
  const chain = createChain(seed)
  const node = createNode({ clock, chain, prefix, scenario })
  const clientVersion = clientVersionOf(node)
  const rpc = await createRpcServer({
    port: options.rpcPort,
    view: { chain, clientVersion, latest: () => node.heights.rpc(clock.now()) },
    tellsHeight: false,
  })
  const reference = await createRpcServer({
    port: options.referencePort,
    view: { chain, clientVersion, latest: () => chain.headAt(clock.now()).seqNum },
    tellsHeight: true,
  })
  const tools = await serveTools({
    directory,
    tools: toolsOf(node, clock),
    client: options.toolClient,
  })
  const end = new AbortController()
  const watched = keepPort(node, rpc, { clock, signal: end.signal })
  return {
    prefix,
    rpcUrl: rpc.url,
    referenceUrl: reference.url,
    binDirectory: tools.binDirectory,
    ownPublicKey: node.own.publicKey,
    node,
    close: async () => {
      end.abort()
      await watched
      await Promise.all([rpc.shut(), reference.shut(), tools.close()])
    },
  }
}

const toolsOf = (node: SimulatedNode, clock: Clock): Readonly<Record<string, Tool>> => ({
  systemctl: createSystemctl(node),
  journalctl: createJournalctl(node.journal, clock),
  [`${node.prefix}-mpt`]: troubled({ node, clock, name: 'mpt' }, createStorageTool(node)),
  [`${node.prefix}-status`]: troubled({ node, clock, name: 'status' }, createStatusTool(node)),
  [`${node.prefix}-node`]: createVersionTool(node),
})

const PORT_CHECK_MS = 200

/** A service that does not run, or waits for statesync, does not listen: the port opens and closes with it. */
const keepPort = async (
  node: SimulatedNode,
  rpc: RpcServer,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> => {
  while (!signal.aborted) {
    if (rpcListens(node.condition(), clock.now())) await rpc.open().catch(() => undefined)
    else await rpc.shut()
    await clock.sleep(PORT_CHECK_MS, signal)
  }
}
