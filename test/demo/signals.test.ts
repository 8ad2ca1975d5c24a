import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { it } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { isAlive, start } from '../support/programs.ts'

it('a command whose terminal is closed stops its children', async ({ directory: bin }) => {
  // Ignores SIGTERM.
  const script = `#!/bin/sh\ntrap '' TERM\necho $$ > ${bin}/pid\nwhile :; do sleep 1; done\n`
  await writeFile(join(bin, 'journalctl'), script, { mode: 0o755 })
  const argv = ['dist/main.js', 'logs', 'bft', '--prefix', 'chain']
  const command = start(process.execPath, argv, { env: { PATH: `${bin}:/usr/bin:/bin` }, extendEnv: false })
  const pid = Number(await eventually(() => readFile(join(bin, 'pid'), 'utf8'), /\d/))
  await command.stop('SIGHUP')
  expect(command.output()).toContain('Interrupted before there was a result.')
  await eventually(() => isAlive(pid), false)
})
