import type { Clock } from '../src/core/clock.ts'
import { type Chain, createChain, createChainWithBoundary } from './chain.ts'
import { createEndpoints, ENDPOINT_NAMES, firstServiceBlock, serveEndpoint } from './endpoints.ts'
import { createPackageTool, createPolicyTool, createVersionTool, writeForkFile } from './versions.ts'
import { fileSystemAt } from './host/devices.ts'
import { createHostTree } from './host/host-tree.ts'
import { createKeyFiles, keystoreTool } from './keystore/key-files.ts'
import { createNode, healthyCondition, type NodeOptions } from './node.ts'
import type { SimulatedNode } from './subject.ts'
import { LIVELY, type Pace } from './pace.ts'
import type { Scenario } from './scenario/scenario.ts'
import { createTimeline } from './scenario/timeline.ts'
import { createChronyc } from './host/host.ts'
import { createJournalctl } from './journal/journalctl.ts'
import { createStatusTool } from './status-report.ts'
import { createStorageTool } from './storage.ts'
import { createSystemctl } from './services/units.ts'
import { serveTools, type Tool, withFaults } from './tools/tools.ts'

/** The chain of a scenario: of the same seed always the same, unless an epoch of it ends at a certain time. */
export const chainFor = (scenario: Scenario, beginMs: number, seed = 1): Chain => {
  const { segments } = createTimeline(healthyCondition(beginMs), scenario.steps, beginMs)
  const boundaryMs = segments.findLast(({ condition }) => condition.epochEndsMs !== undefined)?.condition.epochEndsMs
  return boundaryMs === undefined ? createChain(seed) : createChainWithBoundary(seed, boundaryMs)
}

export interface HostOptions extends NodeOptions {
  /** Directory for the node's files. */
  readonly directory: string
  /** Reference time of the network's forks, in milliseconds; by default the start of the node. */
  readonly forksFromMs?: number
  /** Resolves when all that reads the files of the host has read them; by default at once. */
  readonly readersSettled?: () => Promise<void>
}

export type SimulatedHost = Awaited<ReturnType<typeof createSimulatedHost>>

/** A simulated node on its host, as files and functions: no port is open and no program is on PATH. */
export const createSimulatedHost = async (options: HostOptions) => {
  const { clock, directory, prefix, pace = LIVELY } = options
  const node = createNode(options)
  const keyFiles = await createKeyFiles(node, directory)
  const { nodeDirectory } = keyFiles.places
  const host = createHostTree(node, { ...options, nodeDirectory })
  const { forksFromMs = node.timeline.beginMs } = options
  return {
    prefix,
    ownPublicKey: node.own.publicKey,
    /** The first block of its query service. */
    firstServiceBlock: Number(firstServiceBlock(node)),
    node,
    endpoints: createEndpoints(node),
    /** The commands of the host, by name. */
    tools: toolsOf(node, { clock, pace }),
    ...keyFiles.places,
    host: host.places,
    /** The directory with the package lists of the host. */
    rootDirectory: host.root,
    /** The file system of a directory of the node, for a host that has no disk of its own. */
    fileSystem: fileSystemAt(node, host.places.directories),
    /** The file with the forks of its network, for the agent. */
    forksFile: await writeForkFile(directory, forksFromMs),
    /** Updates the files as the scenario requires, until the signal aborts. */
    keep: async (signal: AbortSignal): Promise<void> => {
      await Promise.all([keyFiles.keep({ clock, signal, pace }), host.keep(signal)])
    },
  }
}

const toolsOf = (
  node: SimulatedNode,
  { clock, pace }: { readonly clock: Clock; readonly pace: Pace },
): Readonly<Record<string, Tool>> => ({
  systemctl: createSystemctl(node),
  journalctl: createJournalctl(node.journal, clock, pace),
  chronyc: createChronyc(node),
  'dpkg-query': createPackageTool(node),
  'apt-cache': createPolicyTool(node),
  [`${node.prefix}-mpt`]: withFaults({ node, clock, name: 'mpt' }, createStorageTool(node)),
  [`${node.prefix}-status`]: withFaults({ node, clock, name: 'status' }, createStatusTool(node)),
  [`${node.prefix}-node`]: createVersionTool(node),
  [`${node.prefix}-keystore`]: keystoreTool,
})

interface SimulatorOptions extends Omit<HostOptions, 'chain'> {
  /** The same seed gives the same chain. */
  readonly seed?: number
}

export type Simulator = Awaited<ReturnType<typeof createSimulator>>

/** Starts one node, one reference and the tools of its host. Ports are free ones of the loopback interface. */
export const createSimulator = async (options: SimulatorOptions) => {
  const { clock, directory, seed = 1, elapsedMs = 0 } = options
  const chain = chainFor(options.scenario, clock.now() - elapsedMs, seed)
  const simulated = await createSimulatedHost({ ...options, chain })
  const { endpoints, tools } = simulated
  const ports = await Promise.all(ENDPOINT_NAMES.map(async (name) => serveEndpoint(endpoints[name])))
  const [rpc, reference, native, otel] = ports.map(({ url }) => url)
  const served = await serveTools({ directory, tools })
  const end = new AbortController()
  const { signal } = end
  const kept = Promise.all([...ports.map(async ({ keep }) => keep({ clock, signal })), simulated.keep(signal)])
  return {
    ...simulated,
    rpcUrl: rpc ?? '',
    /** Another endpoint of the same chain; also serves `GET /height`. */
    referenceUrl: reference ?? '',
    /** Consensus' own metrics. */
    nativeUrl: native ?? '',
    /** The same metrics, served by an OpenTelemetry collector. */
    otelUrl: otel ?? '',
    /** To be added to PATH; the tools and their socket are below `directory`. */
    binDirectory: served.binDirectory,
    close: async (): Promise<void> => {
      end.abort()
      await kept
      await Promise.all([...ports.map(async ({ shut }) => shut()), served.close()])
    },
  }
}
