import { mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createIncidents } from '../../src/agent/incidents.ts'
import { settle } from '../../src/core/virtual-clock.ts'
import type { RuleFinding } from '../../src/parsers/agent-status.ts'
import { parseIncident } from '../../src/parsers/incident.ts'
import type { Exec } from '../../src/sources/exec.ts'
import { findingOf } from '../support/agent-view.ts'
import { it } from '../support/directory.ts'
import { createInFlight, manualClock } from '../support/manual-clock.ts'
import { HEALTHY, snapshotWith } from '../support/snapshot.ts'

const FIRED = Date.UTC(2026, 2, 1, 12, 59, 30)
const ID = '20260301-125930'
const SECOND = 1000
const MINUTE = 60 * SECOND

const finding = (alert: string, more: Partial<RuleFinding> = {}): RuleFinding =>
  findingOf({ alert, since: FIRED, description: `${alert} of bft.`, labels: { service: 'bft' }, ...more })

const CRASH = finding('ChainLogTrouble.aborted')
const DOWN = finding('ChainServiceDown')

/** A journal of one unit with a line each second, which names its second of the day. */
const journal: Exec = {
  run: () => Promise.resolve({ exitCode: 0, stdout: entry(FIRED), stderr: '' }),
  async *stream({ args }) {
    const time = (name: string): number | undefined => {
      const [, seconds] = args.join(' ').match(new RegExp(`--${name}=@([\\d.]+)`)) ?? []
      return seconds === undefined ? undefined : Number(seconds) * SECOND
    }
    const [since, until] = [time('since'), time('until')]
    const from = since ?? (until ?? FIRED) - 3 * MINUTE
    const lines: string[] = []
    const isReverse = args.includes('--reverse')
    for (let at = Math.ceil(from / SECOND) * SECOND; at <= (until ?? from + 3 * MINUTE); at += SECOND) {
      lines.push(entry(at))
    }
    yield await Promise.resolve(Buffer.from((isReverse ? lines.toReversed() : lines).join('')))
  },
  killAll: () => undefined,
}
const entry = (at: number): string => {
  const cursor = `s=1;i=${at / SECOND}`
  const fields = { __CURSOR: cursor, __REALTIME_TIMESTAMP: `${at}000`, MESSAGE: `line of ${clockTime(at)}` }
  return `${JSON.stringify(fields)}\n`
}
const clockTime = (at: number): string => new Date(at).toISOString().slice(11, 19)

/** An agent's incidents in a directory; one that is not closed is an agent that was killed. */
const open = async (directory: string, { at = FIRED - MINUTE } = {}) => {
  const clock = manualClock(at)
  const inFlight = createInFlight()
  const ending = new AbortController()
  const announced: string[] = []
  const complaints: string[] = []
  const health = { ...HEALTHY, state: 'critical', since: at } as const
  const incidents = createIncidents({
    directory: join(directory, 'incidents'),
    clock,
    exec: journal,
    announce: (id, alerts) => announced.push(`${id} ${alerts.join(' ')}`),
    complain: ({ message }) => complaints.push(message),
  })
  const running = incidents.run(ending.signal, {
    evidence: () => ({
      snapshot: snapshotWith({
        at: clock.now(),
        health,
        export: () => Promise.resolve({ metrics: '', readings: { services: { lastExitAt: FIRED } } }),
      }),
      outputs: [{ command: 'chain-status', at: FIRED, output: 'status: in-sync\npassword=hunter-two' }],
    }),
    units: () => ['chain-bft.service'],
  })
  await inFlight.settled()
  const to = async (time: number): Promise<void> => {
    await clock.advance(time - clock.now())
    await inFlight.settled()
  }
  return {
    announced,
    complaints,
    incidents,
    to,
    /** The alerts that fire at a time. */
    observe: async (time: number, findings: readonly RuleFinding[]): Promise<void> => {
      await to(time)
      incidents.observe(time, { ...health, findings })
      await inFlight.settled()
    },
    close: async (): Promise<void> => {
      ending.abort()
      await settle()
      await running
    },
  }
}

/** An agent that sees one alert. */
const openFired = async (directory: string) => {
  const agent = await open(directory)
  await agent.observe(FIRED, [CRASH])
  return agent
}

/** An incident each hour. */
const observeHourly = async ({ observe }: Awaited<ReturnType<typeof open>>, hours: number): Promise<void> => {
  for (let hour = 0; hour < hours; hour += 1) {
    await observe(FIRED + hour * 60 * MINUTE, [CRASH])
    await observe(FIRED + hour * 60 * MINUTE + MINUTE, [])
  }
}

const stored = async (directory: string, id = ID) =>
  parseIncident(await readFile(join(directory, 'incidents', `${id}.json`), 'utf8'))

const messagesOf = ({ journals }: Awaited<ReturnType<typeof stored>>) =>
  journals.map(
    ({ units }) => units?.flatMap(({ lines }) => lines.map((line) => line.slice(-'hh:mm:ss'.length))) ?? null,
  )

/** The seconds from one time to another, both inclusive. */
const seconds = (from: number, to: number): readonly string[] =>
  Array.from({ length: (to - from) / SECOND + 1 }, (_, index) => clockTime(from + index * SECOND))

it('the journals reach from 60 s before the alert to 30 s after it', async ({ directory }) => {
  const agent = await openFired(directory)
  expect(await stored(directory)).toMatchObject({
    agent: '1.2.3',
    firedAt: '2026-03-01T12:59:30.000Z',
    completedAt: null,
    alerts: [{ alert: 'ChainLogTrouble.aborted', labels: { service: 'bft' }, endedAt: null }],
    tools: [{ command: 'chain-status', output: 'status: in-sync\npassword=(redacted)' }],
    readings: { services: { lastExitAt: '2026-03-01T12:59:30.000Z' } },
  })
  expect(messagesOf(await stored(directory))).toEqual([null, null])
  await agent.to(FIRED + 31 * SECOND)
  expect(messagesOf(await stored(directory))).toEqual([seconds(FIRED - MINUTE, FIRED), null])
  await agent.to(FIRED + 32 * SECOND)
  const complete = await stored(directory)
  expect(complete.completedAt).toBe('2026-03-01T13:00:02.000Z')
  expect(messagesOf(complete)).toEqual([seconds(FIRED - MINUTE, FIRED), seconds(FIRED + SECOND, FIRED + 30 * SECOND)])
  expect(agent.announced).toEqual([`${ID} ChainLogTrouble.aborted`])
})

it('of a rule that waits the journals begin before its condition became true', async ({ directory }) => {
  const agent = await open(directory)
  await agent.observe(FIRED, [finding('ChainServiceDown', { since: FIRED - MINUTE })])
  await agent.to(FIRED + 32 * SECOND)
  expect(messagesOf(await stored(directory))[0]).toEqual(seconds(FIRED - 2 * MINUTE, FIRED))
})

it('of a condition that began long ago the journals around its beginning are kept, too', async ({ directory }) => {
  const agent = await open(directory)
  const since = FIRED - 5 * MINUTE
  await agent.observe(FIRED, [finding('ChainNotVoting', { since })])
  await agent.to(FIRED + 32 * SECOND)
  expect(messagesOf(await stored(directory))).toEqual([
    seconds(since - MINUTE, since),
    seconds(since + SECOND, since + 30 * SECOND),
    seconds(FIRED - MINUTE, FIRED),
    seconds(FIRED + SECOND, FIRED + 30 * SECOND),
  ])
})

it('only a critical alert that fires begins an incident', async ({ directory }) => {
  const agent = await open(directory)
  await agent.observe(FIRED, [
    finding('ChainServiceDown', { state: 'pending' }),
    finding('ChainCollectorDown', { severity: 'warning' }),
  ])
  expect(agent.announced).toEqual([])
})

it('alerts within ten minutes, and one that comes and goes, are one incident', async ({ directory }) => {
  const agent = await openFired(directory)
  await agent.observe(FIRED + MINUTE, [CRASH, DOWN])
  await agent.observe(FIRED + 2 * MINUTE, [DOWN])
  expect((await stored(directory)).alerts.map(({ alert, endedAt }) => [alert, endedAt])).toEqual([
    ['ChainLogTrouble.aborted', '2026-03-01T13:01:30.000Z'],
    ['ChainServiceDown', null],
  ])
  await agent.observe(FIRED + 3 * MINUTE, [CRASH, DOWN])
  expect((await stored(directory)).alerts.map(({ endedAt }) => endedAt)).toEqual([null, null])
  expect(agent.incidents.idOf(CRASH)).toBe(ID)
  // The last one fired at 3 min: what fires 10 min and a second later is another incident, what still fires is not.
  const later = finding('ChainBehind')
  await agent.observe(FIRED + 13 * MINUTE + SECOND, [CRASH, DOWN, later])
  expect(agent.announced).toEqual([`${ID} ChainLogTrouble.aborted`, '20260301-131231 ChainBehind'])
  expect([CRASH, DOWN, later].map(agent.incidents.idOf)).toEqual([ID, ID, '20260301-131231'])
})

it('an agent that was killed between the two halves: the next one completes the incident', async ({ directory }) => {
  const killed = await openFired(directory)
  await killed.to(FIRED + 10 * SECOND)
  expect(messagesOf(await stored(directory))).toEqual([seconds(FIRED - MINUTE, FIRED), null])
  // What it was about to write.
  await writeFile(join(directory, 'incidents', `${ID}.json.new`), '{"id":"2026')
  const next = await open(directory, { at: FIRED + 8 * MINUTE })
  expect(messagesOf(await stored(directory))[1]).toEqual(seconds(FIRED + SECOND, FIRED + 30 * SECOND))
  expect((await stored(directory)).completedAt).toBe('2026-03-01T13:07:30.000Z')
  expect(await readdir(join(directory, 'incidents'))).toEqual([`${ID}.json`])
  // The condition still holds: the rule waits again, and fires. It is the same incident, an hour later too.
  await next.observe(FIRED + 9 * MINUTE, [])
  await next.observe(FIRED + 10 * MINUTE, [finding('ChainLogTrouble.aborted', { state: 'pending' })])
  await next.observe(FIRED + 70 * MINUTE, [CRASH])
  expect(next.announced).toEqual([])
  expect((await stored(directory)).alerts).toMatchObject([{ alert: 'ChainLogTrouble.aborted', endedAt: null }])
})

it('a file that is not complete is reported and does not stop the agent', async ({ directory }) => {
  await openFired(directory)
  await truncate(join(directory, 'incidents', `${ID}.json`), 100)
  const next = await open(directory, { at: FIRED + MINUTE })
  expect(next.complaints).toEqual([expect.stringMatching(/^Could not parse the incident: expected the complete JSON/)])
  await next.observe(FIRED + 2 * MINUTE, [CRASH])
  expect(next.announced).toEqual(['20260301-130130 ChainLogTrouble.aborted'])
})

it('an alert of an incident that began more than an hour before the start has another incident', async ({
  directory,
}) => {
  const killed = await openFired(directory)
  await killed.observe(FIRED + MINUTE, [CRASH, DOWN])
  await killed.observe(FIRED + 2 * MINUTE, [CRASH])
  const at = FIRED + 72 * 60 * MINUTE
  const next = await open(directory, { at })
  await next.observe(at, [CRASH])
  expect(next.announced).toEqual(['20260304-125930 ChainLogTrouble.aborted'])
  expect(next.incidents.idOf(CRASH)).toBe('20260304-125930')
  // The end of the other alert is the last that the agent had recorded.
  expect((await stored(directory)).alerts.map(({ endedAt }) => endedAt)).toEqual([
    '2026-03-01T13:01:30.000Z',
    '2026-03-01T13:01:30.000Z',
  ])
})

it('an incident that cannot be completed does not stop the next one', async ({ directory }) => {
  await openFired(directory)
  // The file cannot be written under this name.
  await mkdir(join(directory, 'incidents', `${ID}.json.new`))
  const at = FIRED + 11 * MINUTE
  const killedToo = await open(directory, { at })
  await killedToo.observe(at, [finding('ChainBehind', { since: at })])
  const next = await open(directory, { at: at + MINUTE })
  expect(next.complaints).toHaveLength(1)
  expect(messagesOf(await stored(directory, '20260301-131030')).map((lines) => lines?.length)).toEqual([61, 30])
})

it('an agent that has ended writes no incident', async ({ directory }) => {
  const agent = await open(directory)
  await agent.close()
  await agent.observe(FIRED, [CRASH])
  expect(agent.announced).toEqual([])
})

it('an incident that cannot be written is reported, not named, and tried again after a minute', async ({
  directory,
}) => {
  await writeFile(join(directory, 'incidents'), '')
  const agent = await openFired(directory)
  await agent.observe(FIRED + 15 * SECOND, [CRASH, DOWN])
  expect(agent.complaints).toHaveLength(1)
  expect(agent.announced).toEqual([])
  expect(agent.incidents.idOf(CRASH)).toBeUndefined()
  await rm(join(directory, 'incidents'))
  await agent.observe(FIRED + 59 * SECOND, [CRASH, DOWN])
  expect(agent.announced).toEqual([])
  await agent.observe(FIRED + 60 * SECOND, [CRASH, DOWN])
  expect(agent.announced).toEqual(['20260301-130030 ChainLogTrouble.aborted ChainServiceDown'])
  expect([CRASH, DOWN].map(agent.incidents.idOf)).toEqual(['20260301-130030', '20260301-130030'])
})

it('the newest 20 are kept, only files that the agent wrote are removed, and damaged ones are reported once', async ({
  directory,
}) => {
  const incidents = join(directory, 'incidents')
  await mkdir(incidents)
  const names = Array.from({ length: 150 }, (_, second) => `20260228-10${`${1000 + second}`}.json`)
  for (const name of names) await writeFile(join(incidents, name), '{}')
  await writeFile(join(incidents, 'a.json.new'), 'of another program')
  const agent = await open(directory)
  expect(agent.complaints).toEqual([
    expect.stringMatching(/^100 files in \S+\/incidents cannot be read as incidents; the first: Could not parse/),
  ])
  await observeHourly(agent, 21)
  const left = await readdir(incidents)
  expect(left).toEqual(expect.arrayContaining([...names, 'a.json.new']))
  expect(left).toHaveLength(names.length + 1 + 20)
  expect(left).not.toContain(`${ID}.json`)
})

it('a symbolic link in place of the directory is not followed', async ({ directory }) => {
  const other = join(directory, 'other')
  await mkdir(other)
  await symlink(other, join(directory, 'incidents'))
  const agent = await openFired(directory)
  expect(agent.complaints).toEqual([
    expect.stringMatching(/it is not a directory, .* symbolic links, '\S+\/incidents'$/),
  ])
  expect(await readdir(other)).toEqual([])
})

it('an incident whose id is not the name of its file is none', async ({ directory }) => {
  await openFired(directory)
  const file = join(directory, 'incidents', `${ID}.json`)
  await writeFile(file, (await readFile(file, 'utf8')).replace(`"id":"${ID}"`, '"id":"../../20260301-125931"'))
  const next = await open(directory, { at: FIRED + MINUTE })
  expect(next.complaints).toEqual([expect.stringMatching(/20260301-125930\.json in \S+ is the incident \.\.\/\.\./)])
})
