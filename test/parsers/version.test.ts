import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ParseError } from '../../src/core/errors.ts'
import {
  compareVersions,
  isDifferentVersion,
  parseInstalledPackage,
  parseNodeVersion,
  versionIn,
} from '../../src/parsers/version.ts'
import { cpuMsSince } from '../support/cpu-time.ts'

/** One and the same version a line, oldest first: each line is older than all below it. */
const LADDER = [
  ['0.9.12', 'v0.9.12'],
  ['0.12.1~alpha', 'v0.12.1-alpha'],
  ['0.12.1~rc', 'v0.12.1-rc', '0.12.1-rc', '0.12.1~rc-1', '1:0.12.1~rc', '0.12.1~rc+1'],
  ['0.12.1-rc.2', '0.12.1~rc2'],
  ['0.12.1-rc.10', 'v0.12.1-RC10'],
  ['0.12.1', 'v0.12.1', 'Name/0.12.1', '0.12.1-1', '0.12.1+b1', '2:0.12.1-0ubuntu1', '0.12.1~deb12u1'],
  ['0.12.1-hotfix', 'v0.12.1-hotfix'],
  ['0.12.1-hotfix2', '0.12.1~hotfix.2'],
  ['0.12.1.1', 'v0.12.1.1-1'],
  ['0.12.2-preview', '0.12.2~preview'],
  ['0.12.2', 'Some-Name/v0.12.2', ' 0.12.2\n'],
  ['0.16', '0.16.0'],
  ['0.16.2', '0.16.2-3'],
  ['0.16.2+1', 'v0.16.2+1', '1:0.16.2+1-2'],
  ['0.16.2+2', '0.16.2+2+deb12u1'],
  ['0.16.2+10', 'v0.16.2+10'],
  ['1.0.0', '1.0'],
] as const

const UNKNOWN = [
  null,
  '',
  ' ',
  'Name/unknown',
  'Name/',
  'unknown',
  'v',
  '7',
  '1.',
  'main',
  '0.12.x',
  '0.12.1 (dirty)',
  'a/b/0.1.2',
  '-1.0',
  '{"tag":"v1.2.3"}',
]

test('every version against every other', () => {
  for (const [rung, names] of LADDER.entries()) {
    for (const [otherRung, others] of LADDER.entries()) {
      const expected = rung < otherRung ? 'older' : rung > otherRung ? 'newer' : 'same'
      for (const one of names) {
        for (const other of others) {
          expect([one, other, compareVersions(one, other)]).toEqual([one, other, expected])
        }
      }
    }
  }
})

test('a text that is not a version is unknown compared with anything, itself included', () => {
  for (const one of UNKNOWN) {
    for (const other of [...UNKNOWN, '0.12.1']) {
      expect([one, other, compareVersions(one, other)]).toEqual([one, other, 'unknown'])
      expect(compareVersions(other, one)).toBe('unknown')
    }
  }
})

test('an unknown suffix has no order, unless the numbers differ', () => {
  expect(compareVersions('0.12.1-lunar', '0.12.1')).toBe('unknown')
  expect(compareVersions('0.12.1-lunar', '0.12.1-rc')).toBe('unknown')
  expect(compareVersions('v0.12.1-lunar', '0.12.1~lunar')).toBe('same')
  expect(compareVersions('0.12.1-lunar', '0.12.2')).toBe('older')
})

test('a rebuild and a hotfix of one release have no order', () => {
  expect(compareVersions('0.16.2+1', '0.16.2-hotfix')).toBe('unknown')
  expect(compareVersions('0.16.2-hotfix2', '0.16.2+1')).toBe('unknown')
  expect(compareVersions('0.16.2+1', '0.16.3-hotfix')).toBe('older')
})

describe('whether a different version runs than the installed one', () => {
  test.each([
    ['1:0.16.2', 'Name/0.16.2', false],
    ['v0.16', 'Name/0.16.0', false],
    // An endpoint reports three numbers: a suffix of the package alone shows nothing.
    ['0.16.2+1', 'Name/0.16.2', null],
    ['v0.12.2-rc', 'Name/0.12.2', null],
    ['0.12.1~rc', 'Name/0.12.1', null],
    ['0.12.1-hotfix', 'Name/0.12.1', null],
    ['1:0.16.1-1', 'Name/0.16.1', null],
    ['0.17.0', 'Name/0.16.1', true],
    ['0.16.1', 'Name/0.17.0', true],
    ['0.16.3', 'Name/0.16.2+1', true],
    // What tells its suffix tells all of it, and so does what is installed.
    ['0.16.1', '0.16.1-rc', true],
    ['0.16.1~rc', '0.16.1-rc', false],
    ['0.16.1~rc2', '0.16.1-rc1', true],
    ['0.16.1', '0.16.1-hotfix', true],
    ['0.16.1', '0.16.1+1', true],
    ['0.16.2+2', '0.16.2+1', true],
    ['0.16.2+1', 'v0.16.2+1', false],
    ['0.16.1-lunar', '0.16.1', null],
    ['0.16.1', '0.16.1-lunar', null],
    ['0.16.2', '0.16.1-lunar', true],
    // Unknown is no mismatch.
    ['0.16.1', 'Name/unknown', null],
    ['0.16.1', null, null],
    [null, 'Name/0.16.1', null],
    ['', '', null],
  ])('%j and %j: %j', (installed, running, expected) => {
    expect(isDifferentVersion(installed, running)).toBe(expected)
  })
})

test('the version alone, as it is written', () => {
  expect(versionIn('Name/v0.14.2-rc')).toBe('0.14.2-rc')
  expect(versionIn('1:0.12.1~rc+2')).toBe('0.12.1~rc+2')
  expect(versionIn('Name/unknown')).toBeNull()
  expect(versionIn(null)).toBeNull()
})

test('what is older one way is newer the other, for any text, and quickly', () => {
  const piece = fc.constantFrom('0', '1', '12', '.', '-', '~', '+', ':', '/', 'v', 'rc', 'hotfix', 'x')
  const text = fc.array(piece, { maxLength: 12 }).map((all) => all.join(''))
  const turned = { older: 'newer', newer: 'older', same: 'same', unknown: 'unknown' }
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(compareVersions(other, one)).toBe(turned[compareVersions(one, other)])
    }),
    { numRuns: 2000, seed: 5 },
  )
  const begun = process.cpuUsage()
  for (const long of ['1.', '1', '-', 'a', 'v1.1-']) compareVersions(long.repeat(50_000), '1.1')
  expect(cpuMsSince(begun)).toBeLessThan(1000)
})

test.each([
  ['1.2.3', 'v1.2.3', ''],
  [null, '', '4f1c0a9'],
  [null, '', ''],
])('of a build without git, version %j: tag %j and commit %j; an empty text is unknown', (version, tag, commit) => {
  const text = `a-node {"commit":"${commit}","tag":"${tag}","branch":"","modified":true}`
  const known = { tag: tag || null, commit: commit || null, branch: null, modified: true }
  expect(parseNodeVersion(text)).toEqual({ program: 'a-node', version, ...known })
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
