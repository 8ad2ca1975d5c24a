import { createChain } from './chain/chain.ts'
import { serveEndpoint } from './endpoints.ts'
import { createSimulatedHost, type HostOptions, type SimulatedHost } from './simulated-host.ts'
import { serveTools } from './tools/tools.ts'

/** Ports are on the loopback interface; 0 takes a free one. */
interface SimulatorOptions extends Omit<HostOptions, 'chain'> {
  readonly rpcPort: number
  readonly referencePort: number
  /** Where the metrics of consensus are served. */
  readonly nativePort?: number
  readonly otelPort?: number
  /** The same seed gives the same chain. */
  readonly seed?: number
  /** The compiled `tool.js` that the tools start; by default that of the build. */
  readonly toolClient?: string
}

export interface Simulator extends SimulatedHost {
  readonly rpcUrl: string
  /** Another endpoint of the same chain; also serves `GET /height`. */
  readonly referenceUrl: string
  /** Consensus' own metrics. */
  readonly nativeUrl: string
  /** The same metrics, served by an OpenTelemetry collector. */
  readonly otelUrl: string
  /** To be added to PATH; the tools and their socket are below `directory`. */
  readonly binDirectory: string
  close(): Promise<void>
}

/** Starts one node, one reference and the tools of its host. */
export const createSimulator = async (options: SimulatorOptions): Promise<Simulator> => {
  const { clock, directory, seed = 1, nativePort = 0, otelPort = 0 } = options
  const simulated = await createSimulatedHost({ ...options, chain: createChain(seed) })
  const { endpoints, tools } = simulated
  const rpc = await serveEndpoint(endpoints.rpc, options.rpcPort)
  const reference = await serveEndpoint(endpoints.reference, options.referencePort)
  const native = await serveEndpoint(endpoints.native, nativePort)
  const otel = await serveEndpoint(endpoints.otel, otelPort)
  const served = await serveTools({ directory, tools, client: options.toolClient })
  const end = new AbortController()
  const { signal } = end
  const kept = Promise.all([
    ...[reference, rpc, native, otel].map(async ({ keep }) => keep({ clock, signal })),
    simulated.keep(signal),
  ])
  return {
    ...simulated,
    rpcUrl: rpc.url,
    referenceUrl: reference.url,
    nativeUrl: native.url,
    otelUrl: otel.url,
    binDirectory: served.binDirectory,
    close: async () => {
      end.abort()
      await kept
      await Promise.all([rpc.shut(), reference.shut(), native.shut(), otel.shut(), served.close()])
    },
  }
}
