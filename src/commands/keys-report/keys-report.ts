import { createKeyExaminer } from '../../collectors/keys/files.ts'
import { renderKeyReport } from '../../collectors/keys/report.ts'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { createExec } from '../../sources/exec.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { createPrefix } from '../../sources/prefix.ts'

interface Options {
  readonly config: Config
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
}

/** What this user can see of the node's key files: states alone, for an agent that may see less. */
export const readKeysReport = async ({ config, clock, path, signal }: Options): Promise<string> => {
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
