import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type Bench, createBench, missing, read, unlike } from './bench.ts'
import { COUNTERS, GAUGES, PARTS, type Part, ROWS } from './table.ts'

/** Each fault of these parts, with an agent that monitors the complete node. */
export const testFaults = (parts: readonly Part[]): void => {
  let bench: Bench
  beforeAll(async () => {
    bench = await createBench()
  })
  afterAll(async () => {
    await bench.close()
  })

  describe.each(ROWS.filter(({ part }) => parts.includes(part)))('$part $fault', ({ part, fault, counted, logged }) => {
    const { vanish, becomes } = PARTS[part]

    test('removes only the series of that part; it is logged once; all series return', async () => {
      await bench.isWell()
      const before = await bench.look()
      const logBefore = bench.agent.output().length
      await bench.parts[part].set(fault)
      try {
        await bench.agent.see(
          (seen) => [...vanish.filter((one) => read(seen, one) !== undefined), ...unlike(seen, becomes)],
          (left) => left.length === 0,
        )
        // The fault continues: more attempts, no more lines in the log.
        if (counted !== '') {
          const now = read(await bench.look(), counted) ?? 0
          await bench.agent.see(
            (seen) => read(seen, counted) ?? 0,
            (count) => count >= now + 1,
          )
        }
        // A request that is late during eight floods is absent for one poll: not an effect of the fault.
        const gone = [...vanish].toSorted()
        await bench.agent.see(
          (seen) => missing(seen, GAUGES).toSorted(),
          (left) => left.join('\n') === gone.join('\n'),
        )
        // The poll in progress at the start of the fault may have ended differently.
        await eventually(() => bench.agent.output().slice(logBefore), logged)
        const during = await bench.look()
        for (const counter of COUNTERS) {
          expect(read(during, counter), counter).toBeGreaterThanOrEqual(read(before, counter) ?? Infinity)
        }
      } finally {
        // One failing row must not fail the others.
        await bench.parts[part].set('healthy')
      }
      await bench.isWell()
      const log = bench.agent.output().slice(logBefore)
      expect(log).toMatch(logged)
      // Not again while the fault lasts. On a busy machine an attempt may fail in another way in between.
      const [subject = ''] = /^[^:]*: /.exec(logged.source) ?? []
      const messages = log.match(new RegExp(`"${subject}[^"]*"`, 'g')) ?? []
      expect(messages.filter((message, index) => message === messages[index - 1])).toEqual([])
    }, 900_000)
  })

  test('no height was ever 0, and the agent reported no bug', () => {
    expect(bench.zeros()).toEqual([])
    const lines = bench.agent.output().split('\n')
    const own = lines.filter((line) => line.includes('"level":"error"') && !line.includes('"subject":'))
    const fatal = lines.filter((line) => /is a bug of|"level":"fatal"/.test(line))
    expect([...own, ...fatal]).toEqual([])
  })
}
