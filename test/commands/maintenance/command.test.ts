import { chown, mkdtemp, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { maintenance } from '../../../src/collectors/maintenance/collector.ts'
import { readMaintenance } from '../../../src/domain/maintenance.ts'
import type { Outcome } from '../../../src/core/collector.ts'
import { createCheckpoints } from '../../../src/sources/checkpoint.ts'
import type { SendRequest } from '../../../src/sources/http.ts'
import { cli } from '../../support/cli.ts'
import { temporaryFolder } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { jumpingClock } from '../../support/jumping-clock.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { probeRoot } from '../../support/ordinary-user.ts'
import { requireRealPart } from '../../support/real-parts.ts'
import { shipped } from '../../support/shipped.ts'
import { testUsageErrors } from '../../support/usage-errors.ts'

const withRoot = await requireRealPart('root', probeRoot)
const NOON = Date.UTC(2026, 2, 1, 12)
const folder = await temporaryFolder()
let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(folder, 'state-'))
})

/** Answers as an agent does that reports a window until a time. */
const reporting =
  (readUntil: () => Promise<number | undefined> | number): SendRequest =>
  async ({ url }) => {
    const until = await readUntil()
    const reading = { until: until === undefined ? null : new Date(until).toISOString() }
    const told = { help: '', enabled: true, up: true, lastSuccessAt: null, error: null, reading }
    const status = { agent: { version: '1', prefix: 'chain' }, collectors: { maintenance: told } }
    return { status: 200, text: url.endsWith('/metrics') ? '' : JSON.stringify(status) }
  }

/** The same, with the window in this directory. */
const agentIn = (stateDirectory: string): SendRequest =>
  reporting(async () => {
    const saved = await readFile(join(stateDirectory, 'maintenance.json'), 'utf8').catch(() => null)
    return saved === null ? undefined : readMaintenance(JSON.parse(saved))?.until
  })

const say = async (words: readonly string[], at = NOON, ask = agentIn(directory)) =>
  await cli(['maintenance', ...words, '--set', `state.directory=${directory}`], {
    clock: manualClock(at),
    overrides: { ask },
  })

describe('what the operator says', () => {
  test('start, show and end', async () => {
    expect(await say(['show'])).toEqual({ code: 1, out: 'No maintenance window.\n', err: '' })
    const started = await say(['start', '30m', '--reason', 'upgrade', '--note', 'to 0.17'])
    expect(started).toMatchObject({ code: 0, err: '' })
    const [first, restart] = started.out.split('\n')
    expect(first).toBe('Maintenance: upgrade until 2026-03-01T12:30:00.000Z (30m in all): to 0.17')
    expect(restart).toMatch(/^RECOVERY: unknown: /)
    expect(JSON.parse((await say(['show', '--json'])).out)).toEqual({
      reason: 'upgrade',
      note: 'to 0.17',
      startedAt: '2026-03-01T12:00:00.000Z',
      until: '2026-03-01T12:30:00.000Z',
    })
    const longer = await say(['start', '2h'], NOON + 60_000)
    expect(longer.out).toContain('Replaces: upgrade until 2026-03-01T12:30')
    expect(longer.out).toContain('Maintenance: other until 2026-03-01T14:01')
    expect((await say(['end'])).out).toBe('Maintenance has ended.\n')
    expect((await say(['end'])).out).toBe('No maintenance window was set.\n')
  })

  test('it ends by itself, and by a clock that was set back: it must not silence alerts for a day', async () => {
    await say(['start', '30m'])
    expect((await say(['show'], NOON + 30 * 60_000 - 1)).code).toBe(0)
    for (const at of [NOON + 30 * 60_000, NOON - 24 * 3_600_000]) expect((await say(['show'], at)).code).toBe(1)
  })

  testUsageErrors(
    ['maintenance'],
    [
      [['start', '30d'], 'expected a duration from 1m to 7d'],
      [['start', '30m', '--reason', 'boredom'], 'expected one of upgrade, hardware, network, other'],
      [['start'], "missing required argument 'duration'"],
    ],
  )

  test('a directory that cannot be written is said with what to do', async () => {
    const file = join(directory, 'file')
    await writeFile(file, '')
    const { code, err } = await cli(['maintenance', 'start', '30m', '--set', `state.directory=${file}`])
    expect(code).toBe(1)
    expect(err).toMatch(/Could not write the maintenance window: .*\n {2}what to do: run the command with sudo/)
  })
})

withRoot('as root', () => {
  test('the window belongs to whom the directory belongs', async () => {
    await chown(directory, 65_534, 65_534)
    await say(['start', '30m'])
    const { uid, mode } = await stat(join(directory, 'maintenance.json'))
    expect([uid, mode & 0o777]).toEqual([65_534, 0o640])
  })
})

describe('the running agent is asked whether the window is in force', () => {
  const noAgent: SendRequest = ({ url }) => Promise.reject(new shipped.NoResponseError('refused', url, 'ECONNREFUSED'))
  test('no agent: exit status 1 with the reason; the window is written', async () => {
    const { code, err } = await say(['start', '30m'], NOON, noAgent)
    expect(code).toBe(1)
    expect(err).toContain(
      `The window is written to ${directory}, but is not in force: no agent answers at 127.0.0.1:9843.`,
    )
    expect((await say(['show'])).code).toBe(0)
    expect((await say(['end'], NOON, noAgent)).code).toBe(0)
  })

  test('an agent with another state directory does not report it', async () => {
    const other = join(directory, 'other')
    const clock = jumpingClock()
    const { code, err } = await cli(['maintenance', 'start', '30m', '--set', `state.directory=${directory}`], {
      clock,
      overrides: { ask: agentIn(other) },
    })
    expect(code).toBe(1)
    expect(err).toContain('the agent at 127.0.0.1:9843 does not report it after 15s')
    expect(clock.elapsed()).toBeGreaterThanOrEqual(15_000)
  })

  test('a window that the agent still reports after its end', async () => {
    const { code, err } = await cli(['maintenance', 'end', '--set', `state.directory=${directory}`], {
      clock: jumpingClock(),
      overrides: { ask: reporting(() => NOON + 60_000) },
    })
    expect(code).toBe(1)
    expect(err).toContain('A window may still be in force: the agent at')
  })
})

test('it follows no symbolic link, and half a file is replaced', async () => {
  const victim = join(directory, 'victim')
  await writeFile(victim, 'precious')
  await symlink(victim, join(directory, 'maintenance.json.new'))
  await writeFile(join(directory, 'maintenance.json'), '{"reas')
  expect((await say(['start', '30m'])).code).toBe(0)
  expect(await readFile(victim, 'utf8')).toBe('precious')
  expect((await say(['show'])).code).toBe(0)
})

describe('what the agent makes of it', () => {
  const watch = () => {
    const clock = manualClock(NOON)
    const complaints: Error[] = []
    const collector = maintenance({
      checkpoint: createCheckpoints(directory, (error) => complaints.push(error)).open('maintenance'),
      timing: { interval: 1000, timeout: 100_000 },
    })
    let last: Outcome<Parameters<typeof collector.samples>[0]> | undefined
    const stop = new AbortController()
    void collector.run({ clock, signal: stop.signal }, (outcome) => {
      last = outcome
    })
    return {
      stop: () => stop.abort(),
      /** The reason that is 1, or `none`, or the error, at a moment. */
      at: async (seconds: number) => {
        const before = last
        await clock.advance(NOON + seconds * 1000 - clock.now())
        await eventually(
          () => last,
          (now) => now !== before,
        )
        if (!last?.ok) return last?.error.message ?? 'nothing'
        const on = collector.samples(last.value).filter(({ value }) => value === 1)
        return on.map(({ labels }) => labels['reason']).join() || 'none'
      },
    }
  }

  test('seen within seconds, over by itself, and the note in no label', async () => {
    const { at, stop } = watch()
    expect(await at(0)).toBe('none')
    await say(['start', '1m', '--reason', 'network', '--note', 'private words'])
    expect(await at(5)).toBe('network')
    expect(await at(59)).toBe('network')
    expect(await at(61)).toBe('none')
    stop()
    // Another agent, started later, knows it from the file.
    await say(['start', '1h', '--reason', 'hardware'])
    const restarted = watch()
    expect(await restarted.at(1)).toBe('hardware')
    restarted.stop()
  })

  test('a file of unknown origin is reported, not treated as absent', async () => {
    await writeFile(join(directory, 'maintenance.json'), '{"reason":"nap"}')
    const { at, stop } = watch()
    expect(await at(1)).toContain('set the window again, or run `sudo chain-agent maintenance end`')
    stop()
    expect(await readFile(join(directory, 'maintenance.json'), 'utf8')).toContain('nap')
  })
})
