import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseConfigFile } from '../../src/config/file.ts'
import { parseForks, readForks } from '../../src/config/forks.ts'
import { readConfig } from '../../src/config/load.ts'
import { ConfigError } from '../../src/core/errors.ts'

let directory = ''
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'chain-agent-forks-'))
})
afterAll(() => {
  rmSync(directory, { recursive: true })
})
const NOW = Date.UTC(2027, 0, 1, 12)
const read = (own: string | null) => readForks(own, NOW)
const write = (text: string): string => {
  const path = join(directory, 'own.yaml')
  writeFileSync(path, text)
  return path
}
const parse = (...lines: readonly string[]) => parseForks(parseConfigFile('own.yaml', lines.join('\n')), NOW)
const complaint = (...lines: readonly string[]): string => {
  try {
    parse(...lines)
    return 'none'
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
}

describe('the forks that come with the agent', () => {
  test('the first network, to the minute', () => {
    expect(read(null).forks.get('143')).toEqual([
      { name: 'mip-8', kind: 'fork', activationAt: 1_788_359_400_000, minimumVersion: '0.16.1', timeline: 'page' },
    ])
  })
  test('its test network, to the minute', () => {
    expect(read(null).forks.get('10143')).toMatchObject([
      { activationAt: 1_786_545_000_000, minimumVersion: '0.16.0', timeline: 'page' },
    ])
  })
})

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

  test.each([
    ['a review that is no day', ['reviewed: soon'], 'own.yaml:1: reviewed: expected a time like 2026-09-02T14:30:00Z'],
    [
      'a time that is none',
      ['143:', '  - name: x', '    kind: fork', '    activation: tomorrow'],
      'own.yaml:4: 143.0.activation: expected a time like 2026-09-02T14:30:00Z, or a day, got "tomorrow"',
    ],
    [
      'no such day',
      ['"143":', '  - {name: x, kind: fork, activation: 2026-13-01}'],
      'own.yaml:2: 143.0.activation: expected a time like 2026-09-02T14:30:00Z, or a day, got "2026-13-01"',
    ],
    [
      'a time of somewhere else',
      ['143:', '  - {name: x, kind: fork, activation: 2026-09-02T14:30:00+02:00}'],
      'own.yaml:2: 143.0.activation: expected a time like 2026-09-02T14:30:00Z, or a day, got "2026-09-02T14:30:00+02:00"',
    ],
    [
      'a key that is missing',
      ['143:', '  - name: y', '    kind: fork', '    activation: 2026-09-02', '  - name: x', '    kind: fork'],
      'own.yaml:5: 143.1.activation: expected a time, got nothing',
    ],
    [
      'a key that there is not',
      ['143:', '  - {name: x, kind: fork, activation: 2026-09-02, minVersion: 1.2.3}'],
      'own.yaml:2: 143.0.minVersion: no such key; there are: name, kind, activation, minimumVersion, timeline, source',
    ],
    [
      'a version of two numbers is a number',
      ['143:', '  - name: x', '    kind: fork', '    activation: 2026-09-02', '    minimumVersion: 0.17'],
      'own.yaml:5: 143.0.minimumVersion: expected a version; quote one of two numbers, got 0.17',
    ],
    [
      'an unknown kind and an unknown timeline',
      ['143:', '  - {name: x, kind: split, activation: 2026-09-02, timeline: slot}'],
      'own.yaml:2: 143.0.kind: expected fork or release, got "split"\n' +
        'own.yaml:2: 143.0.timeline: expected page or null, got "slot"',
    ],
    [
      'a name twice',
      [
        '143:',
        '  - {name: x, kind: fork, activation: 2026-09-02}',
        '  - {name: x, kind: fork, activation: 2026-09-03}',
      ],
      'own.yaml:1: 143: expected names that differ, got ',
    ],
    ['a network by its name', ['mainnet: []'], 'own.yaml:1: mainnet: expected a chain id in decimal digits, got []'],
    ['no list', ['143: none'], 'own.yaml:1: 143: expected a list of forks, got "none"'],
    ['no networks', ['- name: x'], 'own.yaml:1: expected lists of forks under chain ids, got '],
  ])('%s', (_, lines, expected) => {
    expect(complaint(...lines)).toContain(expected)
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
