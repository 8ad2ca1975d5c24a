import { expect, test } from 'vitest'
import { createLineReader } from '../../src/collectors/shared/log-lines.ts'
import { createRecentSet } from '../../src/collectors/shared/recent-set.ts'
import { ParseError } from '../../src/core/errors.ts'
import { recording } from './recording.ts'

const parse = (line: string): string | null => {
  if (line.startsWith('round')) return line
  if (line === 'noise') return null
  throw new ParseError('a line', 'a round', line)
}

test('lines are counted by result, and one unparsed line per hour is kept for the log', () => {
  const { recorder, totals } = recording()
  const reader = createLineReader(recorder, 'x', parse)
  const read = (line: string, at: number) => reader.read(line, { by: 1, at })
  expect([read('round 7', 0), read('noise', 0), reader.unparsed()]).toEqual(['round 7', null, null])
  expect(read('first', 1000)).toBeNull()
  for (let line = 0; line < 100; line += 1) read(`line ${line}`, 1000 + line)
  read('too early', 3_600_999)
  expect(reader.unparsed()).toContain('first')
  read('an hour later', 3_601_000)
  expect(reader.unparsed()).toContain('an hour later')
  expect(Object.values(totals())).toEqual([1, 1, 103])
})

test('one more than the limit removes the oldest', () => {
  const set = createRecentSet(2)
  expect(['a', 'b', 'a', 'c'].map(set.add)).toEqual([true, true, false, true])
  expect(set.all()).toEqual(['b', 'c'])
  expect(set.add('a')).toBe(true)
})
