import { expect, test } from 'vitest'
import { play, playLines, secondsOf, textOf } from './play.ts'

test('a node that idles leads no block and every timeout, until it leads again', async () => {
  const { node, to } = playLines('60s node idles', '240s node leads')
  await to(400)
  const told = (message: string, since: number, until: number): readonly boolean[] =>
    node.journal
      .read(0)
      .filter((entry) => textOf(entry).includes(`"${message}"`))
      .filter((entry) => secondsOf(entry) > since && secondsOf(entry) <= until)
      .map((entry) => textOf(entry).includes(`"author":"${node.own.publicKey}"`))
  expect(told('proposed_block', 60, 240)).not.toContain(true)
  expect(told('finalized_block', 62, 240)).not.toContain(true)
  expect(told('timeout', 60, 240).length).toBeGreaterThan(8)
  expect(told('timeout', 60, 240)).not.toContain(false)
  expect(told('proposed_block', 240, 400)).toContain(true)
  expect(told('timeout', 240, 400)).toContain(false)
})

test.each([
  'service-crash',
  'stalled',
  'statesync',
  'format-drift',
  'panic',
  'log-flood',
  'slow-execution',
  'reexecution',
])('the journal of %s does not depend on how often it is read', async (name) => {
  const [often, once] = [await play(name), await play(name)]
  for (let second = 0.3; second < 120; second += 1.7) {
    await often.to(second)
    often.node.journal.read(0)
  }
  await often.to(120)
  await once.to(120)
  expect(often.node.journal.read(0)).toEqual(once.node.journal.read(0))
})
