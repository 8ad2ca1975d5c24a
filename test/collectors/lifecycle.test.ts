import { describe, expect, test } from 'vitest'
import { createLifecycle } from '../../src/collectors/lifecycle/count.ts'
import { createPartialRestart } from '../../src/collectors/lifecycle/partial-restart.ts'
import { recording } from './recording.ts'

const STARTS = 'chain_service_starts_total{service=bft}'
const exits = (result: string): string => `chain_service_exits_total{service=bft,result=${result}}`

const bft = () => {
  const record = recording()
  const lifecycle = createLifecycle(record.recorder, ['bft'])
  const poll = (invocation: string | null, result: string | null = null): void => {
    lifecycle.saw({ service: 'bft', invocation, result })
  }
  return { ...record, lifecycle, poll }
}
const told = (invocation: string, isOld = false) => ({ service: 'bft', invocation, isOld })

describe('starts and exits', () => {
  test('nothing is claimed before a witness has spoken', () => {
    expect(bft().totals()).toEqual({})
  })
  test('the first sight is no start; a new run is', () => {
    const { poll, total } = bft()
    poll('a')
    expect(total(STARTS)).toBe(0)
    poll('a')
    poll('b')
    poll('b')
    expect(total(STARTS)).toBe(1)
  })
  test('both witnesses of one start, in either order', () => {
    const { poll, lifecycle, total } = bft()
    poll('a')
    lifecycle.started(told('b'))
    poll('b')
    poll('c')
    lifecycle.started(told('c'))
    expect(total(STARTS)).toBe(2)
  })
  test('what came and went between two polls is counted from the journal', () => {
    const { poll, lifecycle, total } = bft()
    poll('a')
    for (const run of ['b', 'c', 'd']) {
      lifecycle.started(told(run))
      lifecycle.ended({ ...told(run), result: 'exit-code' })
    }
    poll('e')
    expect(total(STARTS)).toBe(4)
    expect(total(exits('exit-code'))).toBe(3)
  })
  test('an end that the poll alone sees', () => {
    const { poll, total } = bft()
    poll('a')
    poll('a', 'core-dump')
    poll('a', 'core-dump')
    expect(total(exits('core-dump'))).toBe(1)
    expect(total(exits('success'))).toBe(0)
  })
  test('what had ended before our first sight counts only where the journal tells it as news', () => {
    const { poll, lifecycle, total } = bft()
    poll('a', 'signal')
    poll('a', 'signal')
    expect(total(exits('signal'))).toBe(0)
    lifecycle.ended({ ...told('a'), result: 'signal' })
    expect(total(exits('signal'))).toBe(1)
  })
  test('old lines are known, and not counted', () => {
    const { poll, lifecycle, total } = bft()
    lifecycle.started(told('a', true))
    lifecycle.ended({ ...told('a', true), result: 'success' })
    poll('a', 'success')
    lifecycle.started(told('a'))
    expect(total(STARTS)).toBe(0)
    expect(total(exits('success'))).toBe(0)
  })
  test('a result that systemd invents later is counted as other', () => {
    const { lifecycle, total } = bft()
    lifecycle.ended({ ...told('a'), result: 'exec-condition' })
    expect(total(exits('other'))).toBe(1)
  })
  test('a memory keeps a new agent from counting again', () => {
    const before = bft()
    before.lifecycle.started(told('a'))
    before.lifecycle.ended({ ...told('a'), result: 'signal' })
    const after = bft()
    after.lifecycle.begin()
    after.lifecycle.restore(JSON.parse(JSON.stringify(before.lifecycle.memory())))
    after.lifecycle.started(told('a'))
    after.lifecycle.ended({ ...told('a'), result: 'signal' })
    after.lifecycle.restore('nonsense')
    expect(after.totals()).toMatchObject({ [STARTS]: 0, [exits('signal')]: 0 })
  })
})

describe('a partial restart', () => {
  const unit = (invocation: string, startedAt: number, activeState = 'active') => ({
    invocation,
    startedAt,
    activeState,
  })
  test('unknown until both run', () => {
    const partial = createPartialRestart()
    expect(partial(undefined, undefined)).toBeNull()
    expect(partial(unit('b1', 0), unit('e1', 0, 'failed'))).toBeNull()
    expect(partial(unit('b1', 0), unit('e1', 0))).toBe(false)
  })
  test('consensus anew and execution not, until execution too', () => {
    const partial = createPartialRestart()
    partial(unit('b1', 0), unit('e1', 0))
    expect(partial(unit('b1', 0, 'failed'), unit('e1', 0))).toBe(false)
    expect(partial(unit('b2', 9000), unit('e1', 0))).toBe(true)
    expect(partial(unit('b2', 9000), unit('e1', 0))).toBe(true)
    expect(partial(unit('b2', 9000), unit('e2', 20_000))).toBe(false)
  })
  test('both anew is a whole restart', () => {
    const partial = createPartialRestart()
    partial(unit('b1', 0), unit('e1', 0))
    expect(partial(unit('b2', 9000), unit('e2', 8000))).toBe(false)
  })
  test('at first sight the starts tell: more than two minutes apart', () => {
    expect(createPartialRestart()(unit('b', 120_000), unit('e', 0))).toBe(false)
    expect(createPartialRestart()(unit('b', 120_001), unit('e', 0))).toBe(true)
    expect(createPartialRestart()(unit('b', 0), unit('e', 900_000))).toBe(false)
  })
})
