import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../src/core/clock.ts'
import { parseJournalEntry } from '../../src/parsers/journal.ts'
import { createExec } from '../../src/sources/exec.ts'
import { createJournal } from '../../src/sources/journal.ts'
import { createSharedJournal } from '../../src/sources/journal-sharing.ts'
import type { Sandbox } from './sandbox.ts'

const SCRIPT = fileURLToPath(new URL('systemd-sandbox.sh', import.meta.url))

/** Follows the journal of a sandbox with its own journalctl. */
export const createSandboxedJournal = async ({ directory }: Sandbox) => {
  const bin = join(directory, 'bin')
  const name = basename(directory).replace('chain-sandbox-', '')
  await mkdir(bin)
  await writeFile(join(bin, 'journalctl'), `#!/bin/sh\nexec ${SCRIPT} exec -n ${name} -- /usr/bin/journalctl "$@"\n`)
  await chmod(join(bin, 'journalctl'), 0o755)
  const exec = createExec({ clock: systemClock, path: `${bin}:/usr/sbin:/usr/bin:/sbin:/bin` })
  const dependencies = { exec, parse: parseJournalEntry }
  return { journal: createJournal(dependencies), shared: createSharedJournal(dependencies), killAll: exec.killAll }
}
