import { expect, test } from 'vitest'
import { createCheckRunner, type HostCheck, runAll } from '../../src/collectors/host/host-check.ts'
import { blockedReason } from '../../src/collectors/host/system.ts'
import { ParseError, SourceError } from '../../src/core/errors.ts'
import { sample } from '../../src/core/metric.ts'
import { manualClock } from '../support/manual-clock.ts'

const one = [sample('chain_host_smt_active', 1)]
const runnerOf = (check: HostCheck) => createCheckRunner(check, 8000)

const start = () => {
  const clock = manualClock()
  const { signal } = new AbortController()
  return { clock, context: { clock, signal } }
}

test('a check that hangs times out, and is not read again until the read has completed', async () => {
  const { clock, context } = start()
  let answer: () => void = () => undefined
  let reads = 0
  const stuck = runnerOf({
    name: 'stuck',
    read: () => {
      reads += 1
      return new Promise((resolve) => {
        answer = () => resolve(one)
      })
    },
  })
  const healthy = runnerOf({ name: 'healthy', read: () => Promise.resolve(one) })
  const first = runAll([stuck, healthy], context)
  await clock.advance(0)
  await clock.advance(8000)
  const results = await first
  expect(results.get('healthy')).toEqual({ samples: one, state: 'known' })
  expect(results.get('stuck')).toMatchObject({ samples: [] })
  expect(results.get('stuck')?.state).toContain('none within 8s')
  expect((await stuck.run(context)).state).toContain('the previous read has not completed')
  expect(reads).toBe(1)
  answer()
  await clock.advance(0)
  const again = stuck.run(context)
  answer()
  expect(await again).toEqual({ samples: one, state: 'known' })
  expect(reads).toBe(2)
})

// A tool that is missing or fails costs as much as one that works, at each interval of the host.
test('a failure contains the advice; an expensive check that failed is read again after a minute', async () => {
  const { clock, context } = start()
  const answers: (() => readonly (typeof one)[0][])[] = [
    () => {
      throw new SourceError({ doing: 'look at /there', happened: 'EACCES', advice: 'open it' })
    },
    () => {
      throw new ParseError('it', 'a number', 'secret')
    },
    () => one,
    () => [],
  ]
  const check = runnerOf({
    name: 'expensive',
    every: 300_000,
    read: async () => await Promise.resolve(answers.shift()?.() ?? []),
  })
  const failed = 'not known: could not look at /there: EACCES; open it'
  expect((await check.run(context)).state).toBe(failed)
  await clock.advance(59_999)
  expect((await check.run(context)).state).toBe(failed)
  await clock.advance(1)
  expect((await check.run(context)).state).toBe('not known: could not parse it: expected a number')
  await clock.advance(60_000)
  expect((await check.run(context)).samples).toEqual(one)
  await clock.advance(299_999)
  expect((await check.run(context)).samples).toEqual(one)
  expect(answers).toHaveLength(1)
})

test.each([
  ['6.8.0-55-generic', false],
  ['6.8.0-56-generic', true],
  ['6.8.0-59-lowlatency', true],
  ['6.8.0-60-generic', false],
  ['6.8.0-136-generic', true],
  ['6.8.0-1056-aws', false],
  ['6.8.0-560-generic', false],
  ['6.8.12-57-generic', false],
  ['5.15.0-56-generic', false],
])('the kernel %s is blocked: %s', (kernel, isBlocked) => {
  expect(blockedReason(kernel) !== null).toBe(isBlocked)
})
