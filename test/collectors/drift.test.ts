import { expect, test } from 'vitest'
import { createDrift } from '../../src/collectors/shared/drift.ts'
import { ParseError } from '../../src/core/errors.ts'

const strange = (line: string): ParseError => new ParseError('a line', 'a round', line)

test('of lines that are not understood one an hour is kept for the log', () => {
  const drift = createDrift()
  expect(drift.said()).toBeNull()
  drift.saw(strange('first'), 1000)
  for (let line = 0; line < 100; line += 1) drift.saw(strange(`line ${line}`), 1000 + line)
  expect(drift.said()).toContain('first')
  drift.saw(strange('too early'), 3_600_999)
  expect(drift.said()).toContain('first')
  drift.saw(strange('an hour later'), 3_601_000)
  expect(drift.said()).toContain('an hour later')
})
