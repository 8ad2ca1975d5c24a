import { createKeyExaminer, renderKeyReport } from '../../collectors/keys/files.ts'
import { keyFiles } from '../../sources/key-files.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { withHost } from '../shared/with-host.ts'

/** The states of the node's key files, for an agent that cannot read them. */
export const reportKeys = async ({ io, exit, config, host }: ConfiguredContext<object>): Promise<void> => {
  await withHost(host, async (_, readPrefix) => {
    const examine = createKeyExaminer({ keyFiles, readPrefix, keyFolders: config.node })
    io.stdout.write(renderKeyReport(await examine(io.signal)))
  })
  exit(0)
}
