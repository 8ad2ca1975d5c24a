import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBench } from './bench.ts'

let bench: Awaited<ReturnType<typeof startBench>>
beforeAll(async () => {
  bench = await startBench()
})
afterAll(async () => bench.close())
const run = async (name: string, ...argv: readonly string[]) => bench.run(name, ...argv)

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
