import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseConfigFile } from '../../src/config/file.ts'
import { parseForks, readForks } from '../../src/config/forks.ts'
import { readConfig } from '../../src/config/load.ts'
import { ConfigError } from '../../src/core/errors.ts'
import { temporaryFolder } from '../support/directory.ts'

const directory = await temporaryFolder()
const NOW = Date.UTC(2027, 0, 1, 12)
const read = (own: string | null) => readForks(own, NOW)
const write = (text: string): string => {
  const path = join(directory, 'own.yaml')
  writeFileSync(path, text)
  return path
}
const complaint = (text: string): string => {
  try {
    parseForks(parseConfigFile('own.yaml', text), NOW)
    return 'none'
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
}

describe("the operator's own file", () => {
  test('adds networks and forks, and wins over an entry of the same name', () => {
    const { forks, reviewedAt } = read(
      write(`
143:
  - { name: mip-8, kind: fork, activation: 2026-09-03, minimumVersion: 0.16.2+1 }
  - { name: autumn, kind: release, activation: 2026-10-01T08:00Z, minimumVersion: "0.17" }
"77":
  - { name: first, kind: fork, activation: 2027-01-01T00:00:00Z, timeline: page, source: a friend }
`),
    )
    expect([...forks.keys()].toSorted()).toEqual(['10143', '143', '77'])
    const own = (chain: string) => forks.get(chain)?.map(({ name, ...rest }) => [name, rest])
    const none = { minimumVersion: null, timeline: null }
    expect(own('143')).toEqual([
      ['mip-8', { ...none, kind: 'fork', activationAt: Date.UTC(2026, 8, 3), minimumVersion: '0.16.2+1' }],
      ['autumn', { ...none, kind: 'release', activationAt: Date.UTC(2026, 9, 1, 8), minimumVersion: '0.17' }],
    ])
    expect(own('77')).toEqual([
      ['first', { ...none, kind: 'fork', activationAt: Date.UTC(2027, 0, 1), timeline: 'page' }],
    ])
    const shipped = read(write(''))
    expect(shipped.forks.size).toBe(2)
    // Without a date of its own.
    expect(reviewedAt).toBe(shipped.reviewedAt)
  })

  test.each([
    ['2027-01-02', Date.UTC(2027, 0, 2)],
    ['2020-01-31', read(null).reviewedAt],
  ])('reviewed on %s: the later date counts', (day, reviewedAt) => {
    expect(read(write(`reviewed: ${day}\n`)).reviewedAt).toBe(reviewedAt)
  })

  test('a review in the future: up to a day is another time zone; the clock is not before that of the shipped list', () => {
    const own = write('reviewed: 2027-01-03')
    expect(() => read(own)).toThrow(
      'own.yaml:1: reviewed: expected no day in the future, by the clock of this host, got "2027-01-03"',
    )
    const { reviewedAt } = read(null)
    expect(readForks(write(`reviewed: ${new Date(reviewedAt ?? 0).toISOString().slice(0, 10)}`), 0)).toMatchObject({
      reviewedAt,
    })
  })

  const of143 = (...changes: readonly object[]): string =>
    `143: ${JSON.stringify(changes.map((change) => ({ name: 'x', kind: 'fork', activation: '2026-09-02', ...change })))}`
  test.each([
    ['a review that is no day', 'reviewed: soon', '1: reviewed: expected a time like 2026-09-02T14:30:00Z'],
    ['no time', of143({ activation: 'tomorrow' }), 'like 2026-09-02T14:30:00Z, or a day, got "tomorrow"'],
    ['no such day', of143({ activation: '2026-13-01' }), 'got "2026-13-01"'],
    ['a time of somewhere else', of143({ activation: '2026-09-02T14:30:00+02:00' }), 'got "2026-09-02T14:30:00+02'],
    ['no activation', '143:\n  - name: x\n    kind: fork', '2: 143.0.activation: expected a time, got nothing'],
    [
      'a key that there is not',
      of143({ minVersion: '1.2.3' }),
      '1: no such key: 143.0.minVersion; did you mean minimumVersion?',
    ],
    ['a version of two numbers', of143({ minimumVersion: 0.17 }), 'quote one of two numbers, got 0.17'],
    ['an unknown kind', of143({ kind: 'split' }), '1: 143.0.kind: expected fork or release, got "split"'],
    ['an unknown timeline', of143({ timeline: 'slot' }), '1: 143.0.timeline: expected page or null, got "slot"'],
    ['a name twice', of143({}, {}), '1: 143: expected names that differ, got '],
    ['a network by its name', 'mainnet: []', '1: mainnet: expected a chain id in decimal digits, got []'],
    ['no list', '143: none', '1: 143: expected a list of forks, got "none"'],
    ['no networks', '- name: x', '1: expected lists of forks under chain ids, got '],
  ])('%s', (_, text, expected) => {
    expect(complaint(text)).toMatch(/^own\.yaml:\d: /)
    expect(complaint(text)).toContain(expected)
  })
})

test('an error in it is a ConfigError', () => {
  const load = (path: string) => () =>
    readConfig(undefined, { env: {}, flags: [{ path: 'version.forksFile', value: path, typed: '--set' }] })
  expect(load(write('143: 7'))).toThrow(/own\.yaml:1: 143: expected a list of forks/)
  expect(load(join(directory, 'none.yaml'))).toThrow(
    /none\.yaml: the file with forks cannot be read: there is no such file/,
  )
  expect(load(write('143: ['))).toThrow(/own\.yaml:\d+: not YAML/)
  expect(load(write('143: []'))).not.toThrow()
})
