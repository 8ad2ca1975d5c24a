import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { run, start } from '../support/programs.ts'
import { temporaryFolder } from '../support/directory.ts'

const ROOT = join(import.meta.dirname, '../..')
const MAIN = join(ROOT, 'dist/main.js')

const directory = await temporaryFolder()

describe('npm run demo', () => {
  it('stops on SIGTERM and releases its port', async () => {
    const { scripts } = z
      .object({ scripts: z.object({ demo: z.string() }) })
      .parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')))
    // The unchanged script, in a package that is already built.
    const own = { name: 'demo', scripts: { build: 'true', demo: scripts.demo } }
    await mkdir(join(directory, 'package'))
    await writeFile(join(directory, 'package/package.json'), JSON.stringify(own))
    await symlink(join(ROOT, 'dist'), join(directory, 'package/dist'))
    const port = await freePort()
    const npm = start('npm', ['run', 'demo', '--', '--port', `${port}`], {
      cwd: join(directory, 'package'),
    })
    await eventually(npm.output, /Press Ctrl-C/)
    const healthy = async () => (await fetch(`http://127.0.0.1:${port}/-/healthy`)).status
    await eventually(healthy, (status) => status === 200)
    await npm.stop('SIGTERM')
    await eventually(() => healthy().catch(() => 'refused'), 'refused')
  })
})

describe('demo --shell', () => {
  it('runs commands in a shell that uses the demo, and stops with the shell', async () => {
    const port = await freePort()
    const { code, stdout } = await run(process.execPath, [MAIN, 'demo', '--shell', '--port', `${port}`], {
      env: { SHELL: '/bin/sh' },
      input: 'chain-agent config | grep "^listen"\ncommand -v chain-agent\ncommand -v chain-status\n',
    })
    expect(code).toBe(0)
    const [, place = 'none'] = /Status lines go to (\S+)\/demo\.log/.exec(stdout) ?? []
    expect(stdout).toContain(`listen: 127.0.0.1:${port}`)
    expect(stdout).toContain(`${place}/bin/chain-agent\n${place}/bin/chain-status`)
    // Status lines are in the log.
    expect(stdout).not.toMatch(/^height /m)
    await expect(fetch(`http://127.0.0.1:${port}/-/healthy`)).rejects.toThrow('fetch failed')
  })

  it('reports a shell that cannot be started', async () => {
    const { code, stderr } = await run(process.execPath, [MAIN, 'demo', '--shell', '--port', '0'], {
      env: { SHELL: '/no/such/shell' },
    })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'Could not start the shell /no/such/shell.\n  hint: set SHELL to a shell that exists',
    })
  })
})
