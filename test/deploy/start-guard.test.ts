import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/directory.ts'

const place = await temporaryFolder()

/** The shell text of ExecStartPre=, as systemd passes it on. */
const readScript = async (): Promise<string> => {
  const text = await readFile('deploy/start-guard.conf', 'utf8')
  const [, script = ''] = /^ExecStartPre=\+\/bin\/sh -c '([^']+)'$/m.exec(text) ?? []
  return script.replaceAll('$$', '$')
}

/** Its exit code and errors with this program in the place of chain-agent; without one, there is none on PATH. */
const runDropIn = async (program: string | null, environment: Readonly<Record<string, string>> = {}) => {
  const directory = await mkdtemp(join(place, 'drop-in-'))
  const add = async (name: string, text: string): Promise<void> => {
    await writeFile(join(directory, name), `#!/bin/sh\n${text}\n`)
    await chmod(join(directory, name), 0o755)
  }
  // The user of the agent does not exist here.
  await add('setpriv', 'while [ "${1#--}" != "$1" ]; do shift; done; exec "$@"')
  if (program !== null) await add('chain-agent', program)
  const { status, stderr } = spawnSync('/bin/sh', ['-c', await readScript()], {
    env: { PATH: `${directory}:/usr/bin:/bin`, ...environment },
    encoding: 'utf8',
  })
  return { status, stderr }
}

test('a start that is refused fails, and the line for the journal is on standard error', async () => {
  const program = `echo 'START REFUSED: another host signs'; echo "$@: the line" >&2; exit 1`
  expect(await runDropIn(program)).toEqual({ status: 1, stderr: 'start-guard: the line\n' })
})

test.each([
  ['the start is allowed', `echo 'START ALLOWED: no other host signs'`],
  ['the program fails without a decision, as with an invalid configuration', 'echo "error: invalid" >&2; exit 1'],
  ['the program is killed', 'kill -KILL $$'],
  ['the program hangs, and is ended after five seconds', 'exec sleep 600'],
  ['there is no such program', null],
])('the node starts: %s', async (_, program) => {
  expect((await runDropIn(program)).status).toBe(0)
})

test('the password of the keystores is not in the environment of the program', async () => {
  const { stderr } = await runDropIn('env >&2', { KEYSTORE_PASSWORD: 'hunter2', JOURNAL_STREAM: '8:1' })
  expect(stderr).toContain('JOURNAL_STREAM=8:1')
  expect(stderr).not.toContain('hunter2')
})
