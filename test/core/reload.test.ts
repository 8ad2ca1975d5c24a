import { expect, test } from 'vitest'
import { ConfigError } from '../../src/core/errors.ts'
import { createReloader, type Reloaded } from '../../src/core/reload.ts'
import { logLines } from '../support/log-lines.ts'
import { manualClock } from '../support/manual-clock.ts'

const create = () => {
  const clock = manualClock(1_000_000)
  const { log, lines } = logLines()
  const reloader = createReloader({ clock, log, program: 'agent' })
  const state = () => reloader.samples().map(({ value }) => value)
  const ends = (reloaded: Partial<Reloaded>) => () => Promise.resolve({ applied: [], pending: [], ...reloaded })
  return { clock, lines, reloader, state, ends }
}

test('the start is the first success', () => {
  expect(create().state()).toEqual([1, 1000])
})

test.each([
  [{}, ': nothing changed'],
  [{ applied: ['a', 'b.c'], collectors: ['d', 'e'] }, ': applied a, b.c; collectors started or stopped: d, e'],
  [{ pending: ['a', 'b.c'] }, ': nothing applied', 'warn Restart the agent to apply: a, b.c'],
])('the log names what %j means', async (reloaded, text, ...warnings) => {
  const { clock, lines, reloader, state, ends } = create()
  await clock.advance(5000)
  await reloader.run(ends(reloaded))
  expect(lines).toEqual([`info Configuration reloaded${text}`, ...warnings])
  expect(state()).toEqual([1, 1005])
})

test('an invalid configuration is logged with the text of the start, and the last success keeps its time', async () => {
  const { clock, lines, reloader, state, ends } = create()
  await clock.advance(5000)
  await reloader.run(() => Promise.reject(new ConfigError('a.yaml:3: rpc.interval: expected 1s')))
  expect(lines).toEqual([
    'error The configuration cannot be used; the previous one stays in use.\na.yaml:3: rpc.interval: expected 1s',
  ])
  expect(state()).toEqual([0, 1000])
  await clock.advance(5000)
  await reloader.run(ends({}))
  expect(state()).toEqual([1, 1010])
})

test('an error of another kind is reported as a bug, and does not reject', async () => {
  const { lines, reloader } = create()
  await reloader.run(() => Promise.reject(new TypeError('x is no function')))
  expect(lines[0]).toMatch(/^error [^]*This is a bug of chain-agent: TypeError: x is no function/)
})

/** A reload that lasts until `finish` is called. */
const pendingReload = () => {
  const started: string[] = []
  const finish: (() => void)[] = []
  const reload = (name: string) => async () => {
    started.push(name)
    await new Promise<void>((resolve) => finish.push(resolve))
    return { applied: [], pending: [] }
  }
  return { started, finish, reload }
}

test('reloads run one after the other; requests during one, and in the second after it, lead to one more', async () => {
  const { clock, reloader } = create()
  const { started, finish, reload } = pendingReload()
  const first = reloader.run(reload('first'))
  await Promise.resolve()
  const during = Array.from({ length: 400 }, (_, index) => reloader.run(reload(`${index}`)))
  expect(started).toEqual(['first'])
  finish[0]?.()
  await first
  await clock.advance(999)
  const after = Array.from({ length: 50 }, (_, index) => reloader.run(reload(`after ${index}`)))
  expect(started).toEqual(['first'])
  await clock.advance(1)
  expect(started).toEqual(['first', '0'])
  finish[1]?.()
  await Promise.all([...during, ...after])
  await clock.advance(1000)
  expect(started).toEqual(['first', '0'])
  // A second later there is nothing to wait for.
  const last = reloader.run(reload('last'))
  await Promise.resolve()
  expect(started).toEqual(['first', '0', 'last'])
  finish[2]?.()
  await last
})

test('a stop waits for the reload in progress, and the waiting one does not start', async () => {
  const { clock, lines, reloader } = create()
  const { started, finish, reload } = pendingReload()
  const runs = [reloader.run(reload('first')), reloader.run(reload('second'))]
  await Promise.resolve()
  const stopped = reloader.stop()
  finish[0]?.()
  await stopped
  await Promise.all([...runs, reloader.run(reload('third'))])
  await clock.advance(5000)
  expect(started).toEqual(['first'])
  expect(lines).toEqual(['info Configuration reloaded: nothing changed'])
})

test('while one of two files cannot be used, a reload of the other does not count as a success', async () => {
  const { clock, reloader, state, ends } = create()
  await reloader.run(() => Promise.reject(new ConfigError('web.yml:1: wrong')), 'web.yml')
  await reloader.run(ends({}))
  expect(state()[0]).toBe(0)
  await clock.advance(1000)
  await reloader.run(ends({}), 'web.yml')
  expect(state()[0]).toBe(1)
})

test('a waiting reload of one file does not replace that of another', async () => {
  const { reloader, ends } = create()
  const loaded: string[] = []
  const load = (name: string) => async () => {
    loaded.push(name)
    return ends({})()
  }
  await Promise.all([reloader.run(load('a')), reloader.run(load('b'), 'web.yml'), reloader.run(load('c'), 'web.yml')])
  expect(loaded).toEqual(['a', 'b'])
})
