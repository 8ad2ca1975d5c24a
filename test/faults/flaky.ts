import { createServer, type ServerResponse } from 'node:http'
import { chmod, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** `aborts` and `locked` (no permission to run it) are only for tools. */
export type Mode = 'healthy' | 'gone' | 'hangs' | 'floods' | 'garbage' | 'aborts' | 'locked'

/** A proxy in front of a real server that fails on demand. */
export const createFlakyServer = async (target: string, port: number) => {
  let mode: Mode = 'healthy'
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (mode === 'hangs') return
      if (mode === 'floods') flood(response)
      else if (mode === 'garbage') response.end('<html>502 Bad Gateway</html>')
      else
        void forward(
          `${target}${request.url ?? ''}`,
          { method: request.method ?? 'GET', body: Buffer.concat(chunks) },
          response,
        )
    })
  })
  const listen = (): Promise<void> =>
    new Promise((resolve) => {
      server.listen(port, '127.0.0.1', resolve)
    })
  const shut = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve()
      })
      server.closeAllConnections()
    })
  await listen()
  return {
    url: `http://127.0.0.1:${port}`,
    set: async (next: Mode) => {
      if (mode === 'gone' && next !== 'gone') await listen()
      if (mode !== 'gone' && next === 'gone') await shut()
      mode = next
    },
    close: () => (mode === 'gone' ? Promise.resolve() : shut()),
  }
}

const forward = async (
  url: string,
  { method, body }: { readonly method: string; readonly body: Buffer },
  response: ServerResponse,
): Promise<void> => {
  const answer = await fetch(url, method === 'GET' ? {} : { method, body: new Uint8Array(body) })
  response.writeHead(answer.status, { 'content-type': 'application/json' })
  response.end(await answer.text())
}

const flood = (response: ServerResponse): void => {
  const more = (): void => {
    while (!response.destroyed && response.write('{"jsonrpc":"2.0",'.repeat(4000)));
  }
  response.on('drain', more)
  more()
}

/** When a process started, from its line in /proc/PID/stat: proc_pid_stat(5), field 22. */
const startOf = (line: string): string | undefined => line.replace(/^.*\) /, '').split(' ')[19]

/** A wrapper on PATH around a tool of the same name that fails on demand. */
export const createFlakyTool = async (
  name: string,
  { bin, behind }: { readonly bin: string; readonly behind: string },
) => {
  const file = join(bin, name)
  const modeFile = join(bin, `.${name}.mode`)
  const callsFile = join(bin, `.${name}.calls`)
  await writeFile(modeFile, 'healthy\n')
  await writeFile(
    file,
    `#!/bin/sh
read status < /proc/$$/stat; echo "$status" >> ${callsFile}
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
      const calls = await readFile(callsFile, 'utf8').catch(() => '')
      await rm(callsFile, { force: true })
      for (const call of calls.split('\n')) {
        const pid = Number.parseInt(call, 10)
        const now = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
        // By now the ID of a call that has ended may be another program's, of this test or of the system.
        if (startOf(now) !== startOf(call)) continue
        try {
          process.kill(pid, 'SIGKILL')
        } catch {
          // It has just ended.
        }
      }
    },
  }
}
