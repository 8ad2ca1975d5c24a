import { expect, test } from 'vitest'
import { createUnknownValues, unknownValue } from '../../src/core/unknown-values.ts'
import { recording } from '../collectors/recording.ts'

const UNPARSED = 'chain_agent_lines_total{format=report,result=unparsed}'
const PHASES = ['0', '1']

const start = () => {
  const { recorder, total } = recording()
  const { add, states } = createUnknownValues(recorder, 'report')
  return { add, states, total: () => total(UNPARSED) }
}

test.each([
  ['a value of the list', '1', false],
  ['a number of the list', 1, false],
  ['no value', undefined, false],
  ['an empty value', '', false],
  ['another value', '2', true],
  ['another number', 2, true],
])('%s: unknown is %s', (_, value, isUnknown) => {
  expect(unknownValue('phase', value, PHASES)).toHaveLength(isUnknown ? 1 : 0)
})

test('a reading without an unknown value creates the counter, and no state', () => {
  const { add, states, total } = start()
  add([])
  expect(total()).toBe(0)
  expect(states()).toEqual({})
})

test('an unknown value is counted at each reading, and is one state', () => {
  const { add, states, total } = start()
  for (const _ of [1, 2, 3]) add(unknownValue('phase', '7', PHASES))
  expect(total()).toBe(3)
  expect(states()).toEqual({ 'unknown value, phase': '7 (expected 0, 1)' })
})

test('each list has its own state, with the first three of its values', () => {
  const { add, states, total } = start()
  for (let value = 2; value < 1002; value += 1) add(unknownValue('phase', value, PHASES))
  add(unknownValue('kind', 'x', ['a']))
  expect(total()).toBe(1001)
  expect(states()).toEqual({
    'unknown value, phase': '2, 3, 4 (expected 0, 1)',
    'unknown value, kind': 'x (expected a)',
  })
})

test('a value is shortened, on one line, and without secrets', () => {
  const { add, states } = start()
  const secret = 'f00d'.repeat(16)
  add(
    unknownValue(
      'phase',
      `new\u001B[31m\nhttps://u:pw@host.example/KEY /home/kim/x ${secret}${'y z '.repeat(1000)}`,
      [],
    ),
  )
  const [text = ''] = Object.values(states())
  expect(text).not.toMatch(/pw|KEY|kim|f00df00d|\n/)
  expect(text).not.toContain('\u001B')
  expect(text).toMatch(/^new/)
  expect(text.length).toBeLessThan(230)
})
