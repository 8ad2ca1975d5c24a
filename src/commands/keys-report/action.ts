import { createKeyExaminer, renderKeyReport } from '../../collectors/keys/files.ts'
import { createExec } from '../../sources/exec.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { createPrefix } from '../../sources/prefix.ts'
import { configOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type ActionContext, searchPath } from '../../terminal/io.ts'

/** The states of the node's key files, for an agent that cannot read them. */
export const reportKeys = async ({ io, exit, options }: ActionContext<ConfigOptions>): Promise<void> => {
  const { config } = configOf(io, options)
  const path = searchPath(io)
  const exec = createExec({ clock: io.clock, path })
  const readPrefix = createPrefix({ exec, path, configured: config.prefix })
  try {
    const examine = createKeyExaminer({ keyFiles, readPrefix, keyFolders: config.node })
    io.stdout.write(renderKeyReport(await examine(io.signal)))
  } finally {
    exec.killAll()
  }
  exit(0)
}
