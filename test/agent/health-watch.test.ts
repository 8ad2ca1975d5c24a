import { expect, test } from 'vitest'
import { createFailureLog } from '../../src/agent/health-watch.ts'

test('a failure is logged when it begins, and again after it was over', () => {
  const logged: (Error | string)[] = []
  const report = createFailureLog((failure) => logged.push(failure))
  const error = new Error('no samples')
  for (const failures of [['a'], ['a'], ['a', 'b'], [error], [new Error('no samples')], [], ['b']]) report(failures)
  expect(logged).toEqual(['a', 'b', error, 'b'])
})
