import { expect, test } from 'vitest'
import { createRecentSet } from '../../src/collectors/shared/recent-set.ts'

test('one more than the limit removes the oldest', () => {
  const set = createRecentSet(2)
  expect(['a', 'b', 'a', 'c'].map(set.add)).toEqual([true, true, false, true])
  expect(set.all()).toEqual(['b', 'c'])
  expect(set.add('a')).toBe(true)
})
