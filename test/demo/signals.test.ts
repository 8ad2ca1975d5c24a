import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { isAlive, start } from '../support/programs.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')

let bin = ''
beforeAll(async () => {
  bin = await mkdtemp(join(tmpdir(), 'chain-agent-signals-'))
  // Ignores SIGTERM.
  const script = `#!/bin/sh\ntrap '' TERM\necho $$ > ${bin}/pid\nwhile :; do sleep 1; done\n`
  await writeFile(join(bin, 'journalctl'), script)
  await chmod(join(bin, 'journalctl'), 0o755)
})
afterAll(async () => {
  await rm(bin, { recursive: true })
})

describe('a command whose terminal is closed', () => {
  it('stops its children', async () => {
    await rm(join(bin, 'pid'), { force: true })
    const argv = [MAIN, 'logs', 'bft', '--prefix', 'chain']
    const env = { PATH: `${bin}:/usr/bin:/bin` }
    const command = start(process.execPath, argv, { env, extendEnv: false })
    const pid = Number(
      await eventually(
        () => readFile(join(bin, 'pid'), 'utf8').catch(() => ''),
        (text) => text.trim() !== '',
      ),
    )
    await command.stop('SIGHUP')
    expect(command.output()).toContain('Interrupted before there was a result.')
    await eventually(() => isAlive(pid), false)
  })
})
