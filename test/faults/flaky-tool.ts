import { chmod, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mode } from './flaky-server.ts'

/** A wrapper on PATH around a tool of the same name that fails on demand. */
export const createFlakyTool = async (
  name: string,
  { bin, behind }: { readonly bin: string; readonly behind: string },
) => {
  const file = join(bin, name)
  const modeFile = join(bin, `.${name}.mode`)
  const pidFile = join(bin, `.${name}.pids`)
  await writeFile(modeFile, 'healthy\n')
  await writeFile(
    file,
    `#!/bin/sh
echo $$ >> ${pidFile}
read mode < ${modeFile}
case $mode in
  healthy) exec ${join(behind, name)} "$@" ;;
  hangs) trap '' TERM; while :; do /bin/sleep 60; done ;;
  floods) exec /usr/bin/yes ;;
  aborts)
    printf '\\n      0x55d0c1\\n\\n   Attempting async signal unsafe human readable stacktrace (this may hang):\\n' >&2
    printf 'tool: db.cpp:12: void open(): MONAD_ABORT called.\\nNeither copy of the DB metadata is valid\\n' >&2
    kill -ABRT $$ ;;
  garbage) echo '%%% what is this'; echo '{"half":' ; exit 0 ;;
esac
`,
  )
  await chmod(file, 0o755)
  let isGone = false
  return {
    /** Kills running calls, so that the new mode takes effect immediately. */
    set: async (mode: Mode) => {
      if (mode === 'gone') await rename(file, `${file}.gone`)
      else if (isGone) await rename(`${file}.gone`, file)
      isGone = mode === 'gone'
      if (!isGone) await chmod(file, mode === 'locked' ? 0o644 : 0o755)
      if (!isGone) await writeFile(modeFile, `${mode}\n`)
      // A program whose file has not changed is not asked for its version again.
      if (!isGone) await utimes(file, new Date(), new Date())
      const pids = await readFile(pidFile, 'utf8').catch(() => '')
      await rm(pidFile, { force: true })
      for (const pid of pids.trim().split('\n').map(Number)) {
        try {
          if (pid > 0) process.kill(pid, 'SIGKILL')
        } catch {
          // It had already exited.
        }
      }
    },
  }
}
