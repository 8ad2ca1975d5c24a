import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ParseError } from '../../src/core/errors.ts'
import { parseInstalledPackage, parsePackageVersion } from '../../src/parsers/version.ts'
import { cpuMsSince } from '../support/cpu-time.ts'

const FIXTURES = new URL('../fixtures/dpkg/', import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, FIXTURES), 'utf8')
const expected = z.record(z.string(), z.unknown()).parse(JSON.parse(read('expected.json')))
const names = Object.keys(expected)

test.each(names)('%s', (name) => {
  expect(parsePackageVersion(read(name))).toEqual(expected[name])
})

test('every fixture is in the table', () => {
  const files = readdirSync(FIXTURES).filter((name) => name.endsWith('.txt'))
  expect(files.toSorted()).toEqual(names.toSorted())
})

test.each([
  ['nothing', ''],
  ['no such package', 'dpkg-query: no packages found matching maker\n'],
  ['removed, with its configuration left', 'rc  maker  0.12.9  amd64  Example\n'],
  ['never installed', 'un  maker  <none>  <none>  (no description available)\n'],
  ['a package without a version', 'maker \n'],
])('%s is no version', (_, text) => {
  expect(() => parsePackageVersion(text)).toThrow(ParseError)
})

test('the error names what was expected and shows what came', () => {
  expect(() => parsePackageVersion('no packages found\n')).toThrowErrorMatchingInlineSnapshot(`
    [ParseError: Could not parse the version of the package: expected an installed package with its version
      input: no packages found]
  `)
})

test.each(['a', ' ', '1', 'ii ', 'a:', '0.1 '])('200 kB of %j take no time', (piece) => {
  const many = piece.repeat(Math.ceil(200_000 / piece.length))
  const begun = process.cpuUsage()
  for (const text of [`${many}!`, `ii ${many}!`, `ii a ${many}!`, `a ${many}!`]) {
    try {
      parsePackageVersion(text)
    } catch (error) {
      expect(error).toBeInstanceOf(ParseError)
    }
  }
  expect(cpuMsSince(begun)).toBeLessThan(1000)
})

test.each([
  ['ii  maker 0.16.2+1 amd64\n', '0.16.2+1'],
  ['hi  maker 1:0.16.2 amd64\n', '1:0.16.2'],
  ['iU  maker 0.17.0~rc amd64\n', '0.17.0~rc'],
  ['iF  maker 0.17.0 amd64', '0.17.0'],
  ['iWR maker 0.17.0 amd64', '0.17.0'],
  ['it  maker:amd64 0.17.0 amd64', '0.17.0'],
  ['iH  maker 0.17.0 amd64', undefined],
  ['rc  maker 0.16.2 amd64', undefined],
  ['pn  maker  ', undefined],
  ['un  maker  ', undefined],
])('of %j the files are there: %j', (row, version) => {
  expect(parseInstalledPackage(row)?.version).toBe(version)
})

test.each([
  ['ii  maker 0.16.2+1 amd64 1747699200\n', 1_747_699_200_000],
  ['hi  maker:amd64 1:0.16.2 amd64 1747699200', 1_747_699_200_000],
  // dpkg before 1.19.3 returns nothing for an unknown field.
  ['ii  maker 0.16.2 amd64 \n', null],
  ['ii  maker 0.16.2 amd64 yesterday', null],
])('%j was installed at %j', (row, installedAt) => {
  expect(parseInstalledPackage(row)?.installedAt).toBe(installedAt)
})

test.each(['', 'maker', 'xx  maker 0.16.2 amd64', 'ii  maker none amd64'])(
  'of %j the state is not understood',
  (row) => {
    expect(() => parseInstalledPackage(row)).toThrow(ParseError)
  },
)
