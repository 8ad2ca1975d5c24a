import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
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

  test('formats times as requested, but those of timers always as dates', async () => {
    const show = async (style: string, unit: string, property: string) =>
      (await run('systemctl', 'show', `--timestamp=${style}`, '-p', property, '--value', unit)).stdout.trim()
    const began = 'ExecMainStartTimestamp'
    expect(await show('us+utc', 'zephyr-bft', began)).toMatch(
      /^[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} UTC$/,
    )
    expect(await show('pretty', 'zephyr-bft', began)).toMatch(/^[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
    expect(await show('us+utc', 'zephyr-cruft.timer', 'LastTriggerUSec')).toMatch(/ \d\d:00:00 UTC$/)
  })

  test('lists unit files by pattern', async () => {
    const files = await run('systemctl', 'list-unit-files', '--no-legend', '--no-pager', '*-bft.service', 'zephyr-c*')
    expect(files.stdout).toBe('zephyr-bft.service enabled enabled\nzephyr-cruft.service static -\n')
    expect((await run('systemctl', 'list-unit-files', '*-none.service')).code).toBe(1)
  })

  test('rejects unknown commands and options', async () => {
    expect(await run('systemctl', 'frob')).toEqual({
      stdout: '',
      stderr: 'Unknown command verb frob.\n',
      code: 1,
    })
  })

  test('reports a removed unit as not found', async () => {
    const without = await startBench('0s ledger-tail vanishes')
    const units = ['zephyr-ledger-tail', 'zephyr-rpc']
    const shown = await without.run('systemctl', 'show', '-p', 'LoadState,ActiveState', ...units)
    const listed = await without.run('systemctl', 'list-unit-files', '--no-legend', '*-tail.service')
    await without.close()
    expect(shown.stdout).toBe('LoadState=not-found\nActiveState=inactive\n\nLoadState=loaded\nActiveState=active\n')
    expect(listed.stdout.trim()).toBe('')
  })
})

const JSON_OUTPUT = ['-o', 'json', '--output-fields=MESSAGE'] as const

const cursorsOf = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => /"__CURSOR":"([^"]+)"/.exec(line)?.[1] ?? line)

describe('journalctl', () => {
  const unit = 'zephyr-ledger-tail.service'
  const all = async () => cursorsOf((await run('journalctl', ...JSON_OUTPUT, '-u', unit)).stdout.trimEnd().split('\n'))

  test('follows from a cursor on: that entry first, then every one after it, none lost', async () => {
    const before = await all()
    const from = before.at(-40) ?? ''
    const args = ['--follow', '--merge', '--all', '-n', 'all', `--cursor=${from}`]
    const child = bench.launch('journalctl', [...args, ...JSON_OUTPUT, '-u', unit])
    const came: string[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      came.push(...cursorsOf([line]))
      if (came.length === 50) break
    }
    child.kill()
    const after = await all()
    const place = after.indexOf(from)
    expect(came).toEqual(after.slice(place, place + 50))
  })

  test('prints entries from --since on', async () => {
    const times = async (since: string): Promise<readonly number[]> => {
      const { stdout } = await run('journalctl', '-o', 'json', '--since', since, '-u', unit)
      const found = [...stdout.matchAll(/"__REALTIME_TIMESTAMP":"(\d+)"/g)]
      return found.map(([, us]) => Number(us) / 1000)
    }
    const beganMs = Date.now()
    const recent = await times('-20s')
    expect(recent.length).toBeGreaterThan(10)
    expect(Math.min(...recent)).toBeGreaterThanOrEqual(beganMs - 20_000)
    // The entries that both reads have in common, from the first second that both have completely.
    const second = Math.ceil((recent.at(-25) ?? 0) / 1000)
    const expected = recent.filter((ms) => ms >= second * 1000)
    expect(expected.length).toBeGreaterThan(5)
    const date = new Date(second * 1000).toISOString().slice(0, 19).replace('T', ' ')
    for (const since of [`@${second}`, date]) {
      expect((await times(since)).slice(0, expected.length)).toEqual(expected)
    }
    expect((await times('20s ago'))[0]).toBeGreaterThan(beganMs - 20_000)
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
    const said = await run('journalctl', '-n', '2', '-o', 'cat', `_SYSTEMD_UNIT=${unit}`)
    expect(said.stdout.trimEnd().split('\n')).toHaveLength(2)
    const byField = await run('journalctl', '-o', 'cat', '_PID=1', 'UNIT=otelcol.service', 'UNIT=none')
    expect(byField.stdout.split('\n')).toEqual([
      'Stopping otelcol.service - otelcol (simulated)...',
      'otelcol.service: Deactivated successfully.',
      'Stopped otelcol.service - otelcol (simulated).',
      '',
    ])
  })

  test('resumes at the next entry for an unknown cursor, and rejects an invalid one', async () => {
    const [first = ''] = await all()
    const unknown = first.replace(/^s=\w{32}/, `s=${'0'.repeat(32)}`)
    const from = async (cursor: string) =>
      run('journalctl', ...JSON_OUTPUT, '-n', '1', `--cursor=${cursor}`, '-u', unit)
    expect(cursorsOf([(await from(unknown)).stdout.trimEnd()])[0]).toContain(first.slice(0, 36))
    expect(await from('invalid')).toEqual({
      stdout: '',
      stderr: 'Failed to seek to cursor: Invalid argument\n',
      code: 1,
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
