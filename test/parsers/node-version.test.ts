import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ParseError } from '../../src/core/errors.ts'
import { parseNodeVersion } from '../../src/parsers/version.ts'
import { cpuMsSince } from '../support/cpu-time.ts'

const FIXTURES = new URL('../fixtures/node-version/', import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, FIXTURES), 'utf8')
const expected = z.record(z.string(), z.unknown()).parse(JSON.parse(read('expected.json')))
const names = Object.keys(expected)

test.each(names)('%s', (name) => {
  expect(parseNodeVersion(read(name))).toEqual(expected[name])
})

test('every fixture is in the table', () => {
  const files = readdirSync(FIXTURES).filter((name) => name.endsWith('.txt'))
  expect(files.toSorted()).toEqual(names.toSorted())
})

test('empty texts are unknown, also if all are empty', () => {
  const build = (tag: string): string => `a-node {"commit":"","tag":"${tag}","branch":"","modified":true}`
  expect(parseNodeVersion(build('v1.2.3'))).toEqual({
    program: 'a-node',
    version: '1.2.3',
    tag: 'v1.2.3',
    commit: null,
    branch: null,
    modified: true,
  })
  expect(parseNodeVersion(build('').replace('"commit":""', '"commit":"4f1c0a9"'))).toEqual({
    program: 'a-node',
    version: null,
    tag: null,
    commit: '4f1c0a9',
    branch: null,
    modified: true,
  })
  expect(parseNodeVersion(build(''))).toEqual({
    program: 'a-node',
    version: null,
    tag: null,
    commit: null,
    branch: null,
    modified: true,
  })
})

test.each([
  '',
  'a-node',
  'a-node {"tag":5}',
  'a-node {}',
  'a-node {"modified":true}',
  'a-node {"tag":null}',
  'a-node {"tag":"v1.2.3"',
  '[]',
  'error: unexpected argument found\n',
  'The following argument was not expected: --version\nRun with --help for more information.\n',
])('%j is no version', (text) => {
  expect(() => parseNodeVersion(text)).toThrow(ParseError)
})

test('the error names what was expected and shows what came', () => {
  expect(() => parseNodeVersion('Segmentation fault\n')).toThrowErrorMatchingInlineSnapshot(`
    [ParseError: Could not parse the version of the node: expected NAME {"tag":…} or NAME x.y.z
      input: Segmentation fault]
  `)
})

test.each(['a', '{', '[', '1.', 'a {', '{"a":', ' '])('200 kB of %j take no time', (piece) => {
  const many = piece.repeat(Math.ceil(200_000 / piece.length))
  const begun = process.cpuUsage()
  for (const text of [many, `a ${many}`, `a {${many}}`, `a 1.2.${many}`]) {
    try {
      parseNodeVersion(text)
    } catch (error) {
      expect(error).toBeInstanceOf(ParseError)
    }
  }
  expect(cpuMsSince(begun)).toBeLessThan(1000)
})
