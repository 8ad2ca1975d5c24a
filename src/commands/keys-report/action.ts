import { configOf } from '../../terminal/config.ts'
import { type ConfigOptions } from '../../terminal/config-options.ts'
import { createKeyExaminer, renderKeyReport } from '../../collectors/keys/files.ts'
import { type Config } from '../../config/schema.ts'
import { type Clock } from '../../core/clock.ts'
import { createExec } from '../../sources/exec.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { createPrefix } from '../../sources/prefix.ts'
import { type ActionContext, searchPath } from '../../terminal/io.ts'

export const reportKeys = async ({ io, exit, options }: ActionContext<ConfigOptions>): Promise<void> => {
  const { config } = configOf(io, options)
  const path = searchPath(io)
  io.stdout.write(await readKeysReport({ config, clock: io.clock, path, signal: io.signal }))
  exit(0)
}

interface Options {
  readonly config: Config
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
}

/** The states of the node's key files, for an agent that cannot read them. */
const readKeysReport = async ({ config, clock, path, signal }: Options): Promise<string> => {
  const exec = createExec({ clock, path })
  const examine = createKeyExaminer({
    files: keyFiles,
    readPrefix: createPrefix({ exec, path, configured: config.prefix }),
    places: config.node,
  })
  try {
    return renderKeyReport(await examine(signal))
  } finally {
    exec.killAll()
  }
}
