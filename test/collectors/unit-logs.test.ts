import { expect, test } from 'vitest'
import { SourceError } from '../../src/core/errors.ts'
import { parseUnits } from '../../src/parsers/systemctl.ts'
import { createUnitLogs } from '../../src/collectors/shared/unit-logs.ts'
import { manualClock } from '../support/manual-clock.ts'
import { execOf } from './run-collector.ts'

const STARTED = 'ExecMainStartTimestamp=Sat 2026-11-28 11:52:42.763051 UTC'
/** As systemd 252 prints it: in its own order. */
const show = (unit: string, properties: readonly string[]): string =>
  [STARTED, ...properties, `Id=${unit}`, 'ActiveState=active', ''].join('\n')

/** systemd knows the units of `shown`; `undefined` is no answer. */
const systemd = (shown: Readonly<Record<string, string | undefined>>) => {
  const clock = manualClock(0)
  const answers = { ...shown }
  const asked: string[] = []
  const exec = execOf(({ args }) => {
    const units = args.filter((word) => word.endsWith('.service'))
    asked.push(units.join(' '))
    const blocks = units.flatMap((unit) => answers[unit] ?? [])
    return blocks.length < units.length
      ? Promise.reject(new SourceError({ doing: 'run systemctl', happened: 'exit code 1' }))
      : Promise.resolve({ exitCode: 0, stdout: blocks.join('\n'), stderr: '' })
  })
  const logs = createUnitLogs({ exec, clock })
  const { signal } = new AbortController()
  return {
    clock,
    answers,
    asked,
    of: (unit: string) => logs.of(unit, signal),
    scope: (...units: readonly string[]) => logs.scope(units, signal),
    take: (unit: string, text: string) => logs.take(new Map(parseUnits(text).map((parsed) => [unit, parsed]))),
  }
}

const DEFAULT = show('a.service', ['StandardOutput=journal', 'LogNamespace='])
const IN_NODE = show('b.service', ['StandardOutput=journal', 'LogNamespace=node'])

test('where a unit logs, and since when it runs', async () => {
  const { of } = systemd({ 'a.service': DEFAULT, 'b.service': IN_NODE })
  const startedAt = Date.UTC(2026, 10, 28, 11, 52, 42, 763)
  expect(await of('a.service')).toEqual({ namespace: null, output: 'journal', startedAt, isActive: true })
  expect(await of('b.service')).toEqual({ namespace: 'node', output: 'journal', startedAt, isActive: true })
})

test('a unit that is not active does not run', async () => {
  const { of } = systemd({ 'a.service': DEFAULT.replace('=active', '=failed') })
  expect(await of('a.service')).toMatchObject({ isActive: false })
})

test.each([
  ['the default journal', ['a.service'], []],
  ['a namespace, with the entries of systemd', ['b.service'], ['--namespace=+node']],
  ['a namespace and the default journal', ['a.service', 'b.service'], ['--namespace=+node']],
  ['two namespaces', ['b.service', 'c.service'], ['--namespace=*']],
  ['no answer of systemd', ['d.service'], []],
] as const)('the journals to read: %s', async (_, units, expected) => {
  const { scope } = systemd({
    'a.service': DEFAULT,
    'b.service': IN_NODE,
    'c.service': show('c.service', ['LogNamespace=other']),
    'd.service': undefined,
  })
  expect(await scope(...units)).toEqual(expected)
})

test('several units are asked for at once, with those that are known', async () => {
  const { asked, of, scope } = systemd({ 'a.service': DEFAULT, 'b.service': IN_NODE, 'c.service': DEFAULT })
  await of('c.service')
  expect(await scope('a.service', 'b.service', 'c.service')).toEqual(['--namespace=+node'])
  expect(asked).toEqual(['c.service', 'c.service a.service b.service'])
})

test('each unit is asked for once in 50 s, also by two readers at once', async () => {
  const { clock, asked, scope } = systemd({ 'a.service': DEFAULT })
  await Promise.all([scope('a.service'), scope('a.service')])
  await clock.advance(49_999)
  await scope('a.service')
  expect(asked).toEqual(['a.service'])
  await clock.advance(1)
  await scope('a.service')
  expect(asked).toEqual(['a.service', 'a.service'])
})

test('without an answer, the last one is kept, and systemd is asked again after 10 s', async () => {
  const { clock, answers, asked, scope } = systemd({ 'b.service': IN_NODE })
  await scope('b.service')
  answers['b.service'] = undefined
  await clock.advance(50_000)
  expect(await scope('b.service')).toEqual(['--namespace=+node'])
  await clock.advance(9_999)
  await scope('b.service')
  expect(asked).toHaveLength(2)
  await clock.advance(1)
  expect(await scope('b.service')).toEqual(['--namespace=+node'])
  expect(asked).toHaveLength(3)
})

test('a unit that another reader has read is not read until 70 s later', async () => {
  const { clock, asked, of, take } = systemd({ 'a.service': DEFAULT })
  take('a.service', IN_NODE)
  expect(await of('a.service')).toMatchObject({ namespace: 'node', output: 'journal', isActive: true })
  await clock.advance(69_999)
  expect(await of('a.service')).toMatchObject({ namespace: 'node' })
  expect(asked).toEqual([])
  await clock.advance(1)
  expect(await of('a.service')).toMatchObject({ namespace: null })
  expect(asked).toEqual(['a.service'])
})

test('if one unit is due, all that are known are read with it', async () => {
  const { clock, asked, of } = systemd({ 'a.service': DEFAULT, 'b.service': IN_NODE })
  await of('a.service')
  await clock.advance(40_000)
  await of('b.service')
  await clock.advance(49_999)
  await of('a.service')
  expect(asked).toEqual(['a.service', 'a.service b.service'])
  await clock.advance(1)
  await of('b.service')
  expect(asked).toEqual(['a.service', 'a.service b.service', 'a.service b.service'])
})
