import type { Config } from '../../config/schema.ts'
import { createExec, createExecWithTimeouts, type Exec } from '../../sources/exec.ts'
import { createPrefix, type ReadPrefix } from '../../sources/prefix.ts'
import type { SourceContext } from '../../terminal/io.ts'

/** Runs `work` with the programs of the host and the name prefix of the node, and ends the programs that still run. */
export const withHost = async <T>(
  { config, clock, path, exec: standIn }: SourceContext & { readonly config: Pick<Config, 'prefix'> },
  work: (exec: Exec, readPrefix: ReadPrefix) => Promise<T>,
): Promise<T> => {
  const exec = createExecWithTimeouts(standIn ?? createExec({ clock, path }), clock)
  try {
    return await work(exec, createPrefix({ exec, path, configured: config.prefix }))
  } finally {
    if (!standIn) exec.killAll()
  }
}
