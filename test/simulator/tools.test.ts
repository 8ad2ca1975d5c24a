import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveTools } from '../../simulator/tools/tools.ts'
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

test('a reader that reads after the simulator has sent everything gets the complete output', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'simulator-tools-'))
  let noticeClosed = (): void => undefined
  const closed = new Promise<void>((resolve) => {
    noticeClosed = resolve
  })
  const { binDirectory, close } = await serveTools({
    directory,
    tools: {
      *slow(_, signal) {
        signal.addEventListener('abort', noticeClosed)
        // More than a pipe holds.
        yield { stdout: 'x'.repeat(1_000_000), exit: 0 }
      },
    },
  })
  const child = spawn(join(binDirectory, 'slow'), { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  // The tool has received everything, and the output still waits for its reader.
  await closed
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  await ended
  expect([stdout.length, stderr, child.exitCode]).toEqual([1_000_000, '', 0])
  await close()
  await rm(directory, { recursive: true })
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
