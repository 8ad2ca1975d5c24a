import type { Clock } from '../core/clock.ts'
import { createChain } from './chain/chain.ts'
import { createChronyc } from './tools/chronyc.ts'
import { createJournalctl } from './tools/journalctl.ts'
import { createKeyFiles, type NodePlaces } from './key-files.ts'
import { createHostTree, type HostPlaces } from './host/host-tree.ts'
import { writeForkFile } from './fork-file.ts'
import { createNode, type SimulatedNode } from './node.ts'
import { createNativeServers, type NativePlaces, type NativePorts } from './native/native-server.ts'
import { keepPort } from './port.ts'
import { createRpcServer } from './rpc/rpc.ts'
import type { Scenario } from './scenario/scenario.ts'
import { rpcListens } from './scenario/statesync.ts'
import { createPackageTool } from './tools/package-version.ts'
import { createStatusTool } from './tools/status-report.ts'
import { createStorageTool } from './tools/storage-report.ts'
import { createSystemctl } from './tools/systemctl.ts'
import { serveTools, type Tool } from './tools/tools.ts'
import { troubled } from './tools/trouble.ts'
import { clientVersionOf, createVersionTool } from './tools/versions.ts'

export interface SimulatorOptions extends NativePorts {
  readonly clock: Clock
  /** The maker's word in the names of units and tools. */
  readonly prefix: string
  readonly scenario: Scenario
  /** Where `bin/`, the socket behind it and the node's files go. */
  readonly directory: string
  /** Ports on the loopback interface; 0 takes a free one. */
  readonly rpcPort: number
  readonly referencePort: number
  /** The same chain for the same seed. */
  readonly seed?: number
  /** The compiled `tool.js` that the tools start; by default the one of the build. */
  readonly toolClient?: string
}

export interface Simulator extends NodePlaces, NativePlaces {
  readonly prefix: string
  readonly rpcUrl: string
  /** Another endpoint of the same chain, always well; answers `GET /height` too. */
  readonly referenceUrl: string
  readonly binDirectory: string
  readonly ownPublicKey: string
  readonly node: SimulatedNode
  /** What the commands in `bin/` do, by their names. */
  readonly tools: Readonly<Record<string, Tool>>
  readonly host: HostPlaces
  /** The forks of its network, for the agent. */
  readonly forksFile: string
  close(): Promise<void>
}

/** One node, one reference, and the tools of its host, until it is closed. */
export const createSimulator = async (options: SimulatorOptions): Promise<Simulator> => {
  const { clock, prefix, scenario, directory, seed = 1 } = options
  const chain = createChain(seed)
  const node = createNode({ clock, chain, prefix, scenario })
  const rpc = await createRpcServer({
    port: options.rpcPort,
    view: {
      chain,
      clientVersion: () => clientVersionOf(node),
      latest: () => node.heights.rpc(clock.now()),
    },
    tellsHeight: false,
  })
  const reference = await createRpcServer({
    port: options.referencePort,
    view: {
      chain,
      clientVersion: () => clientVersionOf(node),
      latest: () => chain.headAt(clock.now()).seqNum,
    },
    tellsHeight: true,
  })
  const native = await createNativeServers(node, options)
  const tools = toolsOf(node, clock)
  const served = await serveTools({ directory, tools, client: options.toolClient })
  const keyFiles = await createKeyFiles(node, directory)
  const { nodeDirectory } = keyFiles.places
  const host = await createHostTree(node, { clock, directory, nodeDirectory })
  const forksFile = await writeForkFile(directory, node.timeline.beginMs)
  const end = new AbortController()
  const watched = Promise.all([
    keepPort(reference, () => node.condition().referenceAnswers, { clock, signal: end.signal }),
    keepPort(rpc, () => rpcListens(node.condition(), clock.now()), { clock, signal: end.signal }),
    native.keep({ clock, signal: end.signal }),
    keyFiles.keep({ clock, signal: end.signal }),
    host.keep(end.signal),
  ])
  return {
    prefix,
    rpcUrl: rpc.url,
    referenceUrl: reference.url,
    binDirectory: served.binDirectory,
    tools,
    ownPublicKey: node.own.publicKey,
    node,
    ...keyFiles.places,
    ...native.places,
    host: host.places,
    forksFile,
    close: async () => {
      end.abort()
      await watched
      await Promise.all([rpc.shut(), reference.shut(), native.shut(), served.close()])
    },
  }
}

const toolsOf = (node: SimulatedNode, clock: Clock): Readonly<Record<string, Tool>> => ({
  systemctl: createSystemctl(node),
  journalctl: createJournalctl(node.journal, clock),
  chronyc: createChronyc(node),
  'dpkg-query': createPackageTool(node),
  [`${node.prefix}-mpt`]: troubled({ node, clock, name: 'mpt' }, createStorageTool(node)),
  [`${node.prefix}-status`]: troubled({ node, clock, name: 'status' }, createStatusTool(node)),
  [`${node.prefix}-node`]: createVersionTool(node),
})
