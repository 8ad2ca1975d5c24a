import type { ConfigSource } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { fetchSnapshot } from './agent-snapshot.ts'
import { collectSnapshot } from './node-snapshot.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { configOf } from '../../cli/config.ts'
import type { ConfigOptions } from '../../cli/config-options.ts'
import type { Io } from '../../cli/io.ts'
import { createProgress } from '../../cli/terminal/progress.ts'

interface ConfiguredSnapshot {
  readonly snapshot: NodeSnapshot
  readonly config: Config
  readonly source: ConfigSource | null
}

/** Reads from the running agent, or else from the node, which takes seconds. Throws a ConfigError. */
export const readSnapshot = async (io: Io, options: ConfigOptions): Promise<ConfiguredSnapshot> => {
  const { config, source } = configOf(io, options)
  return {
    config,
    source,
    snapshot: (await readFromAgent(io, config)) ?? (await readFromNode(io, config)),
  }
}

/** If another program answers at the address of the agent, prints the error and reads from the node. */
const readFromAgent = async (io: Io, config: Config): Promise<NodeSnapshot | null> => {
  try {
    return await fetchSnapshot({ config, clock: io.clock, signal: io.signal, ...io.overrides })
  } catch (error) {
    const isOurs = error instanceof SourceError || error instanceof ParseError
    if (!isOurs || io.signal.aborted) throw error
    io.stderr.write(`${error.message}\nReading from the node instead.\n`)
    return null
  }
}

/** Reads from the node once. On a terminal, shows which collectors are still running. */
export const readFromNode = async (io: Io, config: Config): Promise<NodeSnapshot> => {
  const progress = createProgress(io)
  try {
    return await collectSnapshot({
      config,
      clock: io.clock,
      path: io.env['PATH'] ?? '/usr/bin:/bin',
      signal: io.signal,
      onWaiting: (names) => {
        progress.show(`Reading from the node: waiting for ${names.join(', ')}`)
      },
      ...io.overrides,
    })
  } finally {
    progress.end()
  }
}
