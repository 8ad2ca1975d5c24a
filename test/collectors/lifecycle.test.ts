import { describe, expect, test } from 'vitest'
import { createLifecycleCounters, createPartialRestart } from '../../src/collectors/lifecycle/restarts.ts'
import { recording } from './recording.ts'

const STARTS = 'chain_service_starts_total{service=bft}'
const exits = (result: string): string => `chain_service_exits_total{service=bft,result=${result}}`

const bft = () => {
  const record = recording()
  const lifecycle = createLifecycleCounters(record.recorder, ['bft'])
  const poll = (invocation: string | null, result: string | null = null): void => {
    lifecycle.polled({ service: 'bft', invocation, result })
  }
  return { ...record, lifecycle, poll }
}
const entry = (invocation: string, isOld = false) => ({ service: 'bft', invocation, isOld })

describe('starts and exits', () => {
  test('there are no series before the first source is available', () => {
    expect(bft().totals()).toEqual({})
  })
  test('the first poll counts no start; a new run is a start', () => {
    const { poll, total } = bft()
    poll('a')
    expect(total(STARTS)).toBe(0)
    poll('a')
    poll('b')
    poll('b')
    expect(total(STARTS)).toBe(1)
  })
  test('a start from both sources is counted once, in either order', () => {
    const { poll, lifecycle, total } = bft()
    poll('a')
    lifecycle.started(entry('b'))
    poll('b')
    poll('c')
    lifecycle.started(entry('c'))
    expect(total(STARTS)).toBe(2)
  })
  test('a run between two polls is counted from the journal', () => {
    const { poll, lifecycle, total } = bft()
    poll('a')
    for (const run of ['b', 'c', 'd']) {
      lifecycle.started(entry(run))
      lifecycle.exited({ ...entry(run), result: 'exit-code' })
    }
    poll('e')
    expect(total(STARTS)).toBe(4)
    expect(total(exits('exit-code'))).toBe(3)
  })
  test('an exit that only the poll reports', () => {
    const { poll, total } = bft()
    poll('a')
    poll('a', 'core-dump')
    poll('a', 'core-dump')
    expect(total(exits('core-dump'))).toBe(1)
    expect(total(exits('success'))).toBe(0)
  })
  test('an exit before the first poll is counted only if the journal reports it as new', () => {
    const { poll, lifecycle, total } = bft()
    poll('a', 'signal')
    poll('a', 'signal')
    expect(total(exits('signal'))).toBe(0)
    lifecycle.exited({ ...entry('a'), result: 'signal' })
    expect(total(exits('signal'))).toBe(1)
  })
  test('old entries are remembered, and not counted', () => {
    const { poll, lifecycle, total } = bft()
    lifecycle.started(entry('a', true))
    lifecycle.exited({ ...entry('a', true), result: 'success' })
    poll('a', 'success')
    lifecycle.started(entry('a'))
    expect(total(STARTS)).toBe(0)
    expect(total(exits('success'))).toBe(0)
  })
  test('after a restore nothing is counted again', () => {
    const before = bft()
    before.lifecycle.started(entry('a'))
    before.lifecycle.exited({ ...entry('a'), result: 'signal' })
    const after = bft()
    after.lifecycle.initialize()
    after.lifecycle.restore(JSON.parse(JSON.stringify(before.lifecycle.snapshot())))
    after.lifecycle.started(entry('a'))
    after.lifecycle.exited({ ...entry('a'), result: 'signal' })
    after.lifecycle.restore('invalid')
    expect(after.totals()).toMatchObject({ [STARTS]: 0, [exits('signal')]: 0 })
  })
})

describe('a partial restart', () => {
  const unit = (invocation: string, startedAt: number, activeState = 'active') => {
    return { invocation, startedAt, activeState }
  }
  test('unknown until both are running', () => {
    const partial = createPartialRestart()
    expect(partial(undefined, undefined)).toBeNull()
    expect(partial(unit('b1', 0), unit('e1', 0, 'failed'))).toBeNull()
    expect(partial(unit('b1', 0), unit('e1', 0))).toBe(false)
  })
  test('true after a restart of consensus, until execution is restarted, too', () => {
    const partial = createPartialRestart()
    partial(unit('b1', 0), unit('e1', 0))
    expect(partial(unit('b1', 0, 'failed'), unit('e1', 0))).toBe(false)
    expect(partial(unit('b2', 9000), unit('e1', 0))).toBe(true)
    expect(partial(unit('b2', 9000), unit('e1', 0))).toBe(true)
    expect(partial(unit('b2', 9000), unit('e2', 20_000))).toBe(false)
  })
  test('a restart of both is not partial', () => {
    const partial = createPartialRestart()
    partial(unit('b1', 0), unit('e1', 0))
    expect(partial(unit('b2', 9000), unit('e2', 8000))).toBe(false)
  })
  test('the first poll compares the starts: more than two minutes apart', () => {
    expect(createPartialRestart()(unit('b', 120_000), unit('e', 0))).toBe(false)
    expect(createPartialRestart()(unit('b', 120_001), unit('e', 0))).toBe(true)
    expect(createPartialRestart()(unit('b', 0), unit('e', 900_000))).toBe(false)
  })
})

test('an unknown result of systemd is counted as other, logged, and counted once per run', () => {
  const { lifecycle, total } = bft()
  lifecycle.exited({ ...entry('a', true), result: 'reborn' })
  expect(lifecycle.unknownResults()).toEqual({})
  for (const run of ['b', 'b', 'c']) lifecycle.exited({ ...entry(run), result: 'reborn' })
  for (const run of ['d', 'e']) lifecycle.exited({ ...entry(run), result: 'start-limit-hit' })
  expect(total(exits('other'))).toBe(4)
  expect(total('chain_agent_lines_total{format=systemctl,result=unparsed}')).toBe(2)
  expect(Object.keys(lifecycle.unknownResults())).toEqual(['unknown value, Result of systemd'])
  expect(lifecycle.unknownResults()['unknown value, Result of systemd']).toMatch(/^reborn \(expected success, /)
})
