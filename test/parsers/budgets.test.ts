import { expect, test } from 'vitest'
import { ParseError } from '../../src/core/errors.ts'
import { formats } from '../../src/parsers/formats.ts'
import { loadTargets } from '../fuzz/targets.ts'
import { cpuMsSince } from '../support/cpu-time.ts'

/** The machines of the tests are slower than the reference, and do other work that evicts their caches. */
const MARGIN = 5
const SIGNS = ['{', '[', '"', '\\', ' ', '\t', '\n', 'a', '1', ',', '|']
const PIECES = [...SIGNS, '0x', 'a=1\n', 'a: b\n', '[[a]]\n', '{"a":', '1.', 'a="', '\u001B[', '---\n']

const targets = await loadTargets()

test.each(formats.map((format) => [format.name, format] as const))(
  '%s: the worst text of the allowed length takes the CPU time that is stated',
  (name, { length, cpuMs, shape }) => {
    const { seeds, run } = targets.find((target) => target.name === name) ?? expect.fail('no seeds')
    const cost = (text: string): number => {
      const begun = process.cpuUsage()
      try {
        run(text)
      } catch (error) {
        expect(error).toBeInstanceOf(ParseError)
      }
      return cpuMsSince(begun)
    }
    const pieces = [...(shape === 'lines' ? seeds : seeds.slice(0, 4).map((seed) => `${seed}\n`)), ...PIECES]
    const texts = pieces.map((piece) => piece.repeat(Math.floor(length / piece.length)))
    const tooLong = texts
      .filter((text) => cost(text) > MARGIN * cpuMs)
      // One measurement may include a garbage collection: the median of three.
      .map((text) => [cost(text), cost(text), cost(text)].toSorted((a, b) => a - b)[1] ?? 0)
      .filter((ms) => ms > MARGIN * cpuMs)
    expect(tooLong).toEqual([])
  },
)
