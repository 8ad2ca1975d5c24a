import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLineSplitter } from '../../src/sources/streams.ts'

test('are the same for any split of the bytes', () => {
  const text = 'first\n\nthïrd µ\nlast without end'
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }), (sizes) => {
      const split = createLineSplitter()
      const bytes = Buffer.from(text)
      const lines: (string | undefined)[] = []
      for (let from = 0, turn = 0; from < bytes.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1
        lines.push(...split(bytes.subarray(from, from + size)))
        from += size
      }
      expect(lines).toEqual(['first', '', 'thïrd µ'])
    }),
    { seed: 4 },
  )
})
test('one that is too long is undefined, and the next is complete', () => {
  const split = createLineSplitter(10)
  expect(split(Buffer.from('0123456789\n0123456789'))).toEqual(['0123456789'])
  expect(split(Buffer.from('x\nnext\n'))).toEqual([undefined, 'next'])
})
