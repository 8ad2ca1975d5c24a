import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ParseError } from '../../src/core/errors.ts'
import { toJson } from '../../src/core/json.ts'
import { parseMonlogReport } from '../../src/parsers/monlog.ts'
import { cpuMsSince } from '../support/cpu-time.ts'

const FIXTURES = new URL('../fixtures/monlog/', import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, FIXTURES), 'utf8')
const expected = z.record(z.string(), z.unknown()).parse(JSON.parse(read('expected.json')))
const names = Object.keys(expected)

test.each(names)('%s', (name) => {
  expect(toJson(parseMonlogReport(read(name)))).toEqual(expected[name])
})

test('every fixture is in the table', () => {
  const files = readdirSync(FIXTURES).filter((name) => name.endsWith('.txt'))
  expect(files.toSorted()).toEqual(names.toSorted())
})

test.each([
  ['✅ Blocks processing and being committed', true],
  ['Blocks processing and being committed ✅', true],
  ['\u001B[31m❌ Blocks NOT being committed\u001B[0m', false],
  ['Blocks are not being committed', false],
])('%s', (line, committing) => {
  expect(parseMonlogReport(line).committing).toBe(committing)
})

test.each([
  ['nothing', ''],
  ['sections without a sentence', '📦 VERSION INFORMATION\n\n📊 CONSENSUS STATUS\n'],
  ['no right to read', 'Hint: You are currently not seeing messages from other users.\n'],
  ['a round that is none', 'Most recent round: unknown\n'],
])('%s is no report', (_, text) => {
  expect(() => parseMonlogReport(text)).toThrow(ParseError)
})

test('the error names what was expected and shows what came', () => {
  expect(() => parseMonlogReport('Permission denied\n')).toThrowErrorMatchingInlineSnapshot(`
    [ParseError: Could not parse the report on the consensus log: expected sentences like "Most recent …"
      input: Permission denied]
  `)
})

test.each(['A', '✅', '---\n', 'Blocks ', 'RaptorCast: ', 'group ', '\u001B[', '{"jsonrpc"', ' '])(
  '200 kB of %j take no time',
  (piece) => {
    const many = piece.repeat(Math.ceil(200_000 / piece.length))
    const begun = process.cpuUsage()
    parseMonlogReport(`MONLOG v1\n${many}.\nii ${many}.\nRaptorCast: ${many}.\nInstalled version:`)
    expect(cpuMsSince(begun)).toBeLessThan(1000)
  },
)
