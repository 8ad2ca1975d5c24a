import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBench } from './bench.ts'

let bench: Awaited<ReturnType<typeof startBench>>
beforeAll(async () => {
  bench = await startBench()
})
afterAll(async () => bench.close())
const run = async (name: string, ...argv: readonly string[]) => bench.run(name, ...argv)

describe("the node's own tools", () => {
  test('recover the keys of the status report from the keystores', async () => {
    const { environmentFile, nodeDirectory, ownPublicKey } = bench.simulator
    const [, password = ''] = /KEYSTORE_PASSWORD='(.*)'/.exec(await readFile(environmentFile, 'utf8')) ?? []
    const report = (await run('zephyr-status')).stdout
    expect(report).toContain(`secpPublicKey: ${ownPublicKey}\n`)
    for (const type of ['secp', 'bls']) {
      const path = join(nodeDirectory, 'config', `id-${type}`)
      const argv = ['--password', password, '--keystore-path', path, '--key-type', type]
      const { stdout } = await run('zephyr-keystore', 'recover', ...argv)
      const [, recovered = 'none'] = /public key: (\S+)/.exec(stdout) ?? []
      const [, reported] = new RegExp(`${type}PublicKey: (\\S+)`).exec(report) ?? []
      expect(recovered).toBe(reported)
    }
  })

  test('report on the database in its newest layout', async () => {
    const { stdout } = await run('zephyr-mpt', '--storage', '/dev/triedb')
    expect(stdout).toMatch(/^ {3} +1\.81 Tb +399\.68 Gb {1,2}\d\d\.\d\d% {2}"\/dev\/nvme3n1p2"$/m)
    expect(stdout).toMatch(/^ {8}History: \d+ versions, earliest is \d+, latest is \d+$/m)
    expect((await run('zephyr-mpt')).stderr).toContain('FATAL: --storage is required')
  })

  test('report on the node and its version', async () => {
    const { stdout } = await run('zephyr-status')
    expect(stdout).toContain(`  secpPublicKey: ${bench.simulator.ownPublicKey}\n`)
    expect(stdout).toContain('  zephyr-execution: failed\n')
    const version = await run('zephyr-node', '--version')
    expect(version.stdout).toMatch(/^zephyr-node \{"commit":"[0-9a-f]{40}","tag":"v/)
  })

  test.each(['secp', 'bls'])('open the %s keystore: the output is the content of the backup', async (key) => {
    const { nodeDirectory, environmentFile, backupDirectory } = bench.simulator
    const [, password = ''] = /'(.*)'/.exec(await readFile(environmentFile, 'utf8')) ?? []
    const path = join(nodeDirectory, 'config', `id-${key}`)
    const own = ['--keystore-path', path, '--key-type', key]
    expect(await run('zephyr-keystore', 'recover', '--password', password, ...own)).toEqual({
      stdout: await readFile(join(backupDirectory, `${key}-backup`), 'utf8'),
      stderr: '',
      code: 0,
    })
  })
})

test('without a simulator the tools fail as on a host without systemd', async () => {
  const other = await startBench()
  const child = other.launch('journalctl', ['-f', '-n', '1', '-o', 'cat'])
  await once(child.stdout, 'data')
  const ended = once(child, 'close')
  await other.simulator.close()
  await ended
  expect(child.exitCode).toBe(1)
  expect(await other.run('systemctl', 'show', 'x')).toEqual({
    stdout: '',
    stderr: 'Failed to connect to bus: No such file or directory\n',
    code: 1,
  })
  expect((await other.run('zephyr-mpt', '--storage', '/dev/triedb')).stderr).toContain('no simulator at')
  await rm(dirname(other.simulator.binDirectory), { recursive: true })
})
