import { expect, test } from 'vitest'
import { createSharedClock } from '../../simulator/commands/demo/fleet/fleet.ts'
import { manualClock } from '../support/manual-clock.ts'

const begin = () => {
  const manual = manualClock()
  const end = new AbortController()
  const woken: string[] = []
  const clock = createSharedClock(manual, end.signal)
  const sleep = (name: string, ms: number, signal = end.signal): void => {
    void clock.sleep(ms, signal).then(() => woken.push(name))
  }
  return { manual, end, woken, sleep }
}

test('resolves at the first tick after the time, and not before', async () => {
  const { manual, woken, sleep } = begin()
  sleep('late', 1000)
  sleep('early', 60)
  await manual.advance(25)
  await manual.advance(25)
  expect(woken).toEqual([])
  await manual.advance(25)
  expect(woken).toEqual(['early'])
  await manual.advance(925)
  expect(woken).toEqual(['early', 'late'])
})

test('resolves immediately for an aborted sleeper, and only for that one', async () => {
  const { manual, woken, sleep } = begin()
  const off = new AbortController()
  sleep('called off', 1000, off.signal)
  sleep('other', 1000)
  off.abort()
  await manual.advance(0)
  expect(woken).toEqual(['called off'])
  sleep('too late', 1000, off.signal)
  await manual.advance(0)
  expect(woken).toEqual(['called off', 'too late'])
})
