import { expect, test } from 'vitest'
import { createUnparsedLine } from '../../src/collectors/shared/log-lines.ts'
import { ParseError } from '../../src/core/errors.ts'

const parseError = (line: string): ParseError => new ParseError('a line', 'a round', line)

test('one unparsed line per hour is kept for the log', () => {
  const unparsed = createUnparsedLine()
  expect(unparsed.get()).toBeNull()
  unparsed.add(parseError('first'), 1000)
  for (let line = 0; line < 100; line += 1) unparsed.add(parseError(`line ${line}`), 1000 + line)
  expect(unparsed.get()).toContain('first')
  unparsed.add(parseError('too early'), 3_600_999)
  expect(unparsed.get()).toContain('first')
  unparsed.add(parseError('an hour later'), 3_601_000)
  expect(unparsed.get()).toContain('an hour later')
})
