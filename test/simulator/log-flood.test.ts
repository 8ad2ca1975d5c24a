import { expect, test } from 'vitest'
import type { Entry } from '../../simulator/journal/entry.ts'
import { nth, play, playLines, secondsOf, textOf } from './play.ts'

const UNIT = 'zephyr-bft.service'

/** Reads every second, like a follower, and records the number of entries in the journal. */
const follow = async (name: string, seconds: number) => {
  const { node, to } = await play(name)
  const from = (node.journal.read(0).at(-1)?.number ?? 0) + 1
  const all: Entry[] = []
  let most = 0
  for (let second = 1; second <= seconds; second += 1) {
    await to(second)
    all.push(...node.journal.read(from + all.length))
    most = Math.max(most, node.journal.read(0).length)
  }
  const consensus = all.filter(({ fields }) => fields['_SYSTEMD_UNIT'] === UNIT)
  return { all, consensus, most }
}

test('log-flood: journald accepts its limit of lines and reports how many it dropped', async () => {
  const { all, consensus, most } = await follow('log-flood', 110)
  const suppressed = all.filter(({ fields }) => fields['N_DROPPED'] !== undefined)
  expect(suppressed).toHaveLength(1)
  const told = nth(suppressed, 0)
  const dropped = Number(told.fields['N_DROPPED'])
  expect(told.fields).toMatchObject({
    MESSAGE: `Suppressed ${dropped} messages from ${UNIT}`,
    MESSAGE_ID: 'a596d6fe7bfa4994828e72309e95d61e',
    OBJECT_SYSTEMD_UNIT: UNIT,
  })
  // Lines that are not dropped are there: 50 s of 4000 lines, and those of a healthy node.
  const { consensus: healthy } = await follow('healthy', 110)
  expect(consensus.length + dropped).toBe(healthy.length + 200_000)
  // An interval of journald starts between the 30th and 31st second and is full 15 s later.
  expect(consensus.filter((entry) => secondsOf(entry) > 46 && secondsOf(entry) < 60)).toEqual([])
  expect(secondsOf(told)).toBeGreaterThan(60)
  expect(secondsOf(told)).toBeLessThan(61.5)
  expect(most).toBeLessThanOrEqual(20_000)
})

test('after a flood without readers the journal holds no more than it keeps', async () => {
  const { node, to } = playLines('0s log floods 10000')
  await to(120)
  const entries = node.journal.read(0)
  expect(entries).toHaveLength(20_000)
  // Few of 1,200,000 lines are written: at most five intervals of 30 s started.
  expect(nth(entries, -1).number).toBeLessThan(5 * 60_000 + 10_000)
  expect(entries.some((entry) => textOf(entry).includes('proposed_block'))).toBe(true)
})
