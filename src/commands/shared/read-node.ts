import type { ConfigSource } from '../../config/read-config.ts'
import type { Config } from '../../config/schema.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { askAgent } from './ask-agent.ts'
import { askNode } from './ask-node.ts'
import type { Picture } from '../../health/picture.ts'
import { type ConfigOptions, configOf } from '../../cli/config-options.ts'
import type { Io } from '../../cli/io.ts'
import { createProgress } from '../../cli/terminal/progress.ts'

interface Found {
  readonly picture: Picture
  readonly config: Config
  readonly source: ConfigSource | null
}

/** What is known of the node: by the running agent, or else by asking the node itself, which takes seconds. */
export const readPicture = async (io: Io, options: ConfigOptions): Promise<Found> => {
  const { config, source } = configOf(io, options)
  return {
    config,
    source,
    picture: (await askAgentOf(io, config)) ?? (await askNodeWith(io, config)),
  }
}

/** Whoever else answers in the agent's place must not keep us from the node; that he does is said. */
const askAgentOf = async (io: Io, config: Config): Promise<Picture | null> => {
  try {
    return await askAgent({ config, clock: io.clock, signal: io.signal, ...io.standIns })
  } catch (error) {
    const isOurs = error instanceof SourceError || error instanceof ParseError
    if (!isOurs || io.signal.aborted) throw error
    io.stderr.write(`${error.message}\nAsking the node itself instead.\n`)
    return null
  }
}

/** The node itself, asked once. On a terminal it is said what is waited for. */
export const askNodeWith = async (io: Io, config: Config): Promise<Picture> => {
  const progress = createProgress(io)
  try {
    return await askNode({
      config,
      clock: io.clock,
      path: io.env['PATH'] ?? '/usr/bin:/bin',
      signal: io.signal,
      onWaiting: (names) => {
        progress.say(`Asking the node: waiting for ${names.join(', ')}`)
      },
      ...io.standIns,
    })
  } finally {
    progress.end()
  }
}
