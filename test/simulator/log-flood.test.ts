import { expect, test } from 'vitest'
import type { Entry } from '../../src/simulator/journal/journal.ts'
import { nth, play, playLines, secondsOf, textOf } from './play.ts'

const UNIT = 'zephyr-bft.service'

/** Reads on every second, as a follower does, and looks at how much the journal holds. */
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

test('log-flood: journald takes its measure of lines, and says how many it dropped', async () => {
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
  // What is not dropped is there: 50 s of 4000 lines, and all that a healthy node writes beside.
  const { consensus: healthy } = await follow('healthy', 110)
  expect(consensus.length + dropped).toBe(healthy.length + 200_000)
  // An interval of journald begins between the 30th and 31st second, and is full 15 s later.
  expect(consensus.filter((entry) => secondsOf(entry) > 46 && secondsOf(entry) < 60)).toEqual([])
  expect(secondsOf(told)).toBeGreaterThan(60)
  expect(secondsOf(told)).toBeLessThan(61.5)
  expect(most).toBeLessThanOrEqual(20_000)
})

test('a flood that nobody read holds no more than the journal keeps', async () => {
  const { node, to } = playLines('0s log floods 10000')
  await to(120)
  const entries = node.journal.read(0)
  expect(entries).toHaveLength(20_000)
  // Of 1,200,000 lines few are written: five half minutes at most began, and the rest is little.
  expect(nth(entries, -1).number).toBeLessThan(5 * 60_000 + 10_000)
  expect(entries.some((entry) => textOf(entry).includes('proposed_block'))).toBe(true)
})
