import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { parseScenario } from '../../simulator/scenario/scenario.ts'
import { createSimulator } from '../../simulator/simulator.ts'
import { serveTools } from '../../simulator/tools/tools.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/directory.ts'

const folder = await temporaryFolder()

const SOME_TROUBLE = '0s execution crashes SIGKILL\n0s otelcol stops'

/** A simulator and its real tools; by itself with an execution that crashed and a collector that was stopped. */
const startBench = async (scenario = SOME_TROUBLE) => {
  const directory = await mkdtemp(join(folder, 'bench-'))
  const simulator = await createSimulator({
    clock: systemClock,
    prefix: 'zephyr',
    scenario: parseScenario('test', scenario),
    directory,
  })
  const bin = simulator.binDirectory
  /** Started as the agent starts its tools: with next to no environment. */
  const launch = (name: string, argv: readonly string[]) =>
    spawn(join(bin, name), argv, {
      env: { PATH: bin, TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  return {
    simulator,
    launch,
    run: async (name: string, ...argv: readonly string[]) => {
      const child = launch(name, argv)
      const closed = once(child, 'close')
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
      await closed
      return { stdout, stderr, code: child.exitCode }
    },
    close: simulator.close,
  }
}

let bench: Awaited<ReturnType<typeof startBench>>
beforeAll(async () => {
  bench = await startBench()
})
afterAll(async () => bench.close())
const run = async (name: string, ...argv: readonly string[]) => bench.run(name, ...argv)

test.each(['secp', 'bls'])('the tool opens the %s keystore: the output is the content of the backup', async (key) => {
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

describe('systemctl', () => {
  test('prints the requested properties in systemd order, with a blank line between units', async () => {
    const asked = '--property=ActiveState,Id,ExecMainStatus,LoadState,Result,ExecMainCode'
    const units = ['zephyr-execution.service', 'otelcol', 'zephyr-nowhere.service']
    expect(await run('systemctl', 'show', asked, ...units)).toEqual({
      stdout: [
        'Result=signal\nExecMainCode=2\nExecMainStatus=9\nId=zephyr-execution.service\nLoadState=loaded\nActiveState=failed\n',
        'Result=success\nExecMainCode=1\nExecMainStatus=0\nId=otelcol.service\nLoadState=loaded\nActiveState=inactive\n',
        'Result=success\nExecMainCode=0\nExecMainStatus=0\nId=zephyr-nowhere.service\nLoadState=not-found\nActiveState=inactive\n',
      ].join('\n'),
      stderr: '',
      code: 0,
    })
  })

  test('lists unit files by pattern', async () => {
    const files = await run('systemctl', 'list-unit-files', '--no-legend', '--no-pager', '*-bft.service', 'zephyr-c*')
    expect(files.stdout).toBe('zephyr-bft.service enabled enabled\nzephyr-cruft.service static -\n')
    expect((await run('systemctl', 'list-unit-files', '*-none.service')).code).toBe(1)
  })
})

describe('journalctl', () => {
  const unit = 'zephyr-ledger-tail.service'

  test('prints entries from --since on', async () => {
    const second = Math.floor(Date.now() / 1000) - 20
    const date = new Date(second * 1000).toISOString().slice(0, 19).replace('T', ' ')
    for (const since of ['-20s', '20s ago', `@${second}`, date]) {
      const { stdout } = await run('journalctl', '-o', 'json', '--since', since, '-u', unit)
      const first = Number(/"__REALTIME_TIMESTAMP":"(\d+)"/.exec(stdout)?.[1]) / 1_000_000
      expect(first).toBeGreaterThanOrEqual(second)
      // A block takes two seconds at most.
      expect(first).toBeLessThan(Date.now() / 1000 - 18)
    }
    expect(await run('journalctl', '--since', 'soon')).toMatchObject({
      stderr: 'Failed to parse timestamp: soon\n',
      code: 1,
    })
  })

  test('prints the newest entries, and those of PID 1 about a unit with its own', async () => {
    const newest = await run('journalctl', '-n', '2', '-o', 'cat', '-u', unit)
    expect(newest.stdout.trimEnd().split('\n')).toHaveLength(2)
    const crash = await run('journalctl', '-o', 'cat', '-u', 'zephyr-execution')
    expect(crash.stdout).toContain("zephyr-execution.service: Failed with result 'signal'.")
    const own = await run('journalctl', '-o', 'cat', '_SYSTEMD_UNIT=zephyr-execution.service')
    expect(own.stdout).not.toContain('Failed with result')
    const byField = await run('journalctl', '-o', 'cat', '_PID=1', 'UNIT=otelcol.service', 'UNIT=none')
    expect(byField.stdout.split('\n')).toEqual([
      'Stopping otelcol.service - otelcol (simulated)...',
      'otelcol.service: Deactivated successfully.',
      'Stopped otelcol.service - otelcol (simulated).',
      '',
    ])
  })
})

test('a reader that reads after the simulator has sent everything gets the complete output', async () => {
  let noticeClosed = (): void => undefined
  const closed = new Promise<void>((resolve) => {
    noticeClosed = resolve
  })
  const { binDirectory, close } = await serveTools({
    directory: await mkdtemp(join(folder, 'slow-')),
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
})

const start = async (scenario: string) => {
  const faulty = await startBench(scenario)
  onTestFinished(faulty.close)
  return faulty
}

test.each([
  ['zephyr-mpt', /\(this may hang\):\n$/],
  ['zephyr-status', /^waiting for the control panel\n$/],
])(
  '%s hangs, does not heed SIGTERM, and dies by SIGKILL',
  async (name, said) => {
    const faulty = await start('0s mpt hangs\n0s status hangs')
    const child = faulty.launch(name, ['--storage', '/dev/triedb'])
    const closed = once(child, 'close')
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString()
    })
    const stdout = text(child.stdout)
    await eventually(
      () => stderr,
      (seen) => said.test(seen),
    )
    child.kill('SIGTERM')
    // Another call has run in the meantime, so that the signal has been delivered.
    expect((await faulty.run('zephyr-node', '--version')).code).toBe(0)
    expect([child.exitCode, child.signalCode]).toEqual([null, null])
    child.kill('SIGKILL')
    await closed
    expect([child.exitCode, child.signalCode, await stdout]).toEqual([null, 'SIGKILL', ''])
  },
  30_000,
)

test('the storage tool aborts: no report, a backtrace, an assertion, SIGABRT', async () => {
  const faulty = await start('0s mpt aborts')
  const child = faulty.launch('zephyr-mpt', ['--storage', '/dev/triedb'])
  const closed = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  await closed
  expect([stdout, child.exitCode, child.signalCode]).toEqual(['', null, 'SIGABRT'])
  const lines = stderr.split('\n')
  expect(lines[0]).toBe('')
  expect(lines[1]).toMatch(/^ {6}0x[0-9a-f]+$/)
  expect(lines).toContain('   Attempting async signal unsafe human readable stacktrace (this may hang):')
  expect(lines.at(-3)).toMatch(/^zephyr-mpt: \S+:\d+: .*: Assertion '.*' failed\.$/)
  expect(lines.at(-2)).toBe('DB metadata was closed dirty, but not opened for healing')
})
