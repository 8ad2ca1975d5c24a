import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import { it as directoryTest } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { logLines } from '../support/log-lines.ts'
import { manualClock } from '../support/manual-clock.ts'
import { shipped } from '../support/shipped.ts'

const { createReloader, startWeb } = shipped

const HASH = '$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG'
const USERS = `basic_auth_users:\n  ada: ${HASH}\n`

const it = directoryTest.extend('start', ({ directory, onTestFinished }) => async () => {
  const manual = manualClock(1_000_000)
  /** The sleeps so far, in milliseconds: the last is in progress. */
  const sleeps: number[] = []
  const clock: Clock = {
    ...manual,
    sleep: (ms, signal) => {
      sleeps.push(ms)
      return manual.sleep(ms, signal)
    },
  }
  const { log, lines } = logLines((line) => line.replaceAll(directory, 'DIR'))
  const reloader = createReloader({ clock, log, program: 'agent' })
  const file = join(directory, 'web.yml')
  await writeFile(file, USERS)
  const web = await startWeb({ config: { configFile: file, hosts: [] }, clock, log, reloader })
  const stopping = new AbortController()
  const watching = web.watch(stopping.signal)
  onTestFinished(async () => {
    stopping.abort()
    await watching
  })
  /** Ends that many sleeps, and waits for the next one each time: files are read in between. */
  const nextSleeps = async (count: number) => {
    for (let rest = count; rest > 0; rest -= 1) {
      const before = sleeps.length
      await manual.advance(sleeps.at(-1) ?? 0)
      await eventually(() => sleeps.length > before, true, { every: 5 })
    }
    return sleeps.slice(-count)
  }
  return { web, file, lines, nextSleeps, isSuccessful: () => reloader.samples()[0]?.value }
})

const CHECK = 5000
const WRITING = 1000

it('a file that is not valid is logged once, however long it stays', async ({ start }) => {
  const { file, lines, nextSleeps, isSuccessful } = await start()
  expect([await nextSleeps(2), lines]).toEqual([[CHECK, CHECK], []])
  await writeFile(file, 'basic_auth_users:\n  ada: wrong\n')
  expect(await nextSleeps(4)).toEqual([WRITING, CHECK, CHECK, CHECK])
  const invalid = /^error The configuration cannot be used[^]*\nDIR\/web\.yml:2: basic_auth_users\.ada: expected/
  expect(lines).toEqual([expect.stringMatching(invalid)])
  expect(isSuccessful()).toBe(0)
  await writeFile(file, USERS)
  expect(await nextSleeps(2)).toEqual([WRITING, CHECK])
  expect(lines.slice(1)).toEqual(['info Configuration reloaded: applied web.configFile'])
  expect(isSuccessful()).toBe(1)
})

it('a file is not read while it is being written', async ({ start }) => {
  const { file, lines, nextSleeps } = await start()
  await writeFile(file, 'basic_auth_us')
  expect(await nextSleeps(1)).toEqual([WRITING])
  await writeFile(file, USERS.replace('ada', 'bob'))
  expect(await nextSleeps(1)).toEqual([CHECK])
  expect(lines).toEqual(['info Configuration reloaded: applied web.configFile'])
})

it('an exposed listener is a warning, once, and again when a change of the file exposes it', async ({ start }) => {
  const { web, file, lines, nextSleeps } = await start()
  web.warnIfExposed({ host: '127.0.0.1', port: 1 })
  expect(lines).toEqual([])
  web.warnIfExposed({ host: '::', port: 9843 })
  expect(lines.splice(0)).toEqual([
    'warn Other hosts can connect to [::]:9843, and passwords are not encrypted: use a loopback address, or set TLS and ' +
      'authentication with --web.config.file',
  ])
  await writeFile(file, `# the same\n${USERS}`)
  expect(await nextSleeps(2)).toEqual([WRITING, CHECK])
  expect(lines.splice(0)).toEqual(['info Configuration reloaded: applied web.configFile'])
  await writeFile(file, '')
  expect(await nextSleeps(2)).toEqual([WRITING, CHECK])
  expect(lines[0]).toContain('warn Other hosts can connect to [::]:9843, and requests are not authenticated')
})
