import { rmSync, writeFileSync } from 'node:fs'
import { appendFile, chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { type NewEvent, toNewEvent } from '../../src/domain/event.ts'
import { KEY_STATES } from '../../src/collectors/keys/definition.ts'
import { parseEvent } from '../../src/parsers/event.ts'
import { createEventLog, readEventFile } from '../../src/sources/event-log.ts'
import { temporaryFolder } from '../support/directory.ts'

const base = await temporaryFolder()
let directory = ''
const file = (): string => join(directory, 'events.jsonl')
beforeEach(async () => {
  directory = await mkdtemp(join(base, 'events-'))
})

const AT = Date.UTC(2026, 2, 1)
const news = (number: number, more: Partial<NewEvent> = {}): NewEvent => ({
  at: AT + number * 1000,
  collector: 'services',
  subject: 'bft',
  from: `state ${number - 1}`,
  to: `state ${number}`,
  severity: 'info',
  isFirstSight: false,
  ...more,
})
const open = (keep = 1000, complaints: string[] = []) =>
  createEventLog({
    directory,
    keep,
    parse: parseEvent,
    complain: (error) => complaints.push(error.message),
  })
const toOf = async (log: ReturnType<typeof open>): Promise<readonly string[]> => (await log.all()).map(({ to }) => to)

test('events are kept over restarts of the agent', async () => {
  const first = open()
  first.add(news(1))
  first.add(news(2))
  await first.flush()
  const second = open()
  second.add(news(3))
  expect(await toOf(second)).toEqual(['state 1', 'state 2', 'state 3'])
  await second.flush()
  const kept = await readEventFile(directory, parseEvent)
  expect(kept.map(({ id, to }) => [id, to])).toEqual([
    [1, 'state 1'],
    [2, 'state 2'],
    [3, 'state 3'],
  ])
  expect((await stat(file())).mode & 0o777).toBe(0o640)
})

test('a first observation is an event only if the previous agent observed another state', async () => {
  const first = open()
  first.add(news(1, { from: null, isFirstSight: true }))
  await first.flush()
  const second = open()
  second.add(news(5, { from: null, isFirstSight: true, to: 'state 1' }))
  second.add(news(6, { from: null, isFirstSight: true, to: 'state 6' }))
  expect((await second.all()).map(({ from, to }) => [from, to])).toEqual([
    [null, 'state 1'],
    ['state 1', 'state 6'],
  ])
  await second.flush()
})

test('a line truncated by a kill is skipped without affecting others', async () => {
  const first = open()
  first.add(news(1))
  await first.flush()
  await appendFile(file(), '{"id":2,"at":"2026-03-01T00:0')
  const second = open()
  second.add(news(3))
  await second.flush()
  expect(await toOf(open())).toEqual(['state 1', 'state 3'])
})

test('the file never holds many more than are to be kept, and loses the oldest', async () => {
  const log = open(100)
  for (let number = 1; number <= 350; number += 1) {
    log.add(news(number))
    await log.flush()
    const lines = (await readFile(file(), 'utf8')).split('\n').length - 1
    expect(lines).toBeLessThanOrEqual(100)
  }
  const kept = await readEventFile(directory, parseEvent)
  expect(kept.length).toBeGreaterThanOrEqual(75)
  expect(kept.at(-1)?.to).toBe('state 350')
  expect(kept.map(({ id }) => id)).toEqual(kept.map((_, at) => 350 - kept.length + 1 + at))
})

test('nor more than two megabytes', async () => {
  const log = open(100_000)
  for (let number = 1; number <= 14_000; number += 1) log.add(news(number, { to: `${number} ${'x '.repeat(40)}` }))
  await log.flush()
  const { size } = await stat(file())
  expect(size).toBeLessThanOrEqual(2 * 1024 * 1024)
  expect(size).toBeGreaterThan(1024 * 1024)
  expect((await readEventFile(directory, parseEvent)).at(-1)?.id).toBe(14_000)
})

test('a failing disk is reported once, and readers still get all events', async () => {
  await rm(directory, { recursive: true })
  await writeFile(directory, 'a file in the place of the directory')
  const complaints: string[] = []
  const log = open(100, complaints)
  for (let number = 1; number <= 3; number += 1) {
    log.add(news(number))
    await log.flush()
  }
  expect(complaints).toHaveLength(1)
  expect(await toOf(log)).toEqual(['state 1', 'state 2', 'state 3'])
})

test('events that a disk rejected are written once it accepts them', async () => {
  const log = open()
  log.add(news(1))
  await log.flush()
  await rm(directory, { recursive: true })
  await writeFile(directory, 'a file in the place of the directory')
  for (const number of [2, 3]) {
    log.add(news(number))
    await log.flush()
  }
  await rm(directory)
  log.add(news(4))
  await log.flush()
  const kept = await readEventFile(directory, parseEvent)
  expect(kept.map(({ id }) => id)).toEqual([1, 2, 3, 4])
})

test('a partly written line affects no other, and none is written twice', async () => {
  const whole = (number: number): string => {
    const { isFirstSight: _, ...told } = news(number)
    return `${JSON.stringify({ id: number, ...told, at: new Date(told.at).toISOString() })}\n`
  }
  const log = createEventLog({
    directory,
    keep: 100,
    parse: parseEvent,
    // What a disk leaves that is full after one line and a half.
    complain: () => {
      rmSync(file())
      writeFileSync(file(), whole(1) + whole(2) + whole(3).slice(0, 40))
    },
  })
  log.add(news(1))
  await log.flush()
  expect(await readFile(file(), 'utf8')).toBe(whole(1))
  await rm(file())
  await symlink('/dev/full', file())
  log.add(news(2))
  log.add(news(3))
  await log.flush()
  log.add(news(4))
  await log.flush()
  expect(await readFile(file(), 'utf8')).toBe([1, 2, 3, 4].map(whole).join(''))
})

test('a file without read permission is an error with advice', async () => {
  await expect(readEventFile(directory, parseEvent)).rejects.toThrow(/there is no such file.*\n.*start the agent/)
  await writeFile(file(), '')
  await chmod(file(), 0)
  if (process.getuid?.() === 0) return
  await expect(readEventFile(directory, parseEvent)).rejects.toThrow(/run this as root/)
})

test("the agent's own words are kept as they are: the password's backup is not a password", () => {
  for (const key of ['secp', 'bls', 'password'])
    for (const kind of ['keystore', 'backup'])
      for (const to of KEY_STATES) {
        const subject = `${key} ${kind}`
        const change = { at: AT, collector: 'keys', subject, from: undefined, to }
        expect(toNewEvent(change, 'info')).toMatchObject({ subject, to })
      }
  const at = 'reference https://user:hunter2@host.example/v2/abc'
  const { subject } = toNewEvent({ at: AT, collector: 'x', subject: at, from: undefined, to: 'up' }, 'info')
  expect(subject).toBe('reference https://host.example/…')
})

test('secrets in log lines and URLs are redacted before they are stored', () => {
  const to = 'failing: could not ask https://user:secret@host.example/v2/abc, password=hunter2 in /home/ana/x\u001b[31m'
  const { to: kept, isFirstSight } = toNewEvent(
    { at: AT, collector: 'rpc', subject: undefined, from: undefined, to },
    'warning',
  )
  expect(kept).not.toMatch(/secret@|v2|hunter2|\/home\/ana/)
  expect(kept).not.toContain('\u001b')
  expect(kept).toContain('https://host.example')
  expect(isFirstSight).toBe(true)
})
