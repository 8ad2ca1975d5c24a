import { expect, test } from 'vitest'
import { chooseVersion, compareDebianVersions, parseOfferedVersion, parsePreferences } from '../../src/parsers/apt.ts'
import { cpuMsSince } from '../support/cpu-time.ts'

/** Oldest first; `dpkg --compare-versions` of 1.21.22 agrees on each pair. */
const ORDERED = [
  '0.12.1~rc',
  '0.12.1',
  '0.12.1-1',
  '0.12.1-1+deb12u1',
  '0.12.1+1',
  '0.12.9',
  '0.12.10',
  '0.16.2~rc.2',
  '0.16.2',
  '0.16.2a',
  '0.16.2+1',
  '0.16.10-0ubuntu1',
  '1:0.1',
]

test('versions have the order of deb-version(7)', () => {
  expect(ORDERED.toReversed().toSorted(compareDebianVersions)).toEqual(ORDERED)
  expect(ORDERED.map((version) => compareDebianVersions(version, version))).toEqual(ORDERED.map(() => 0))
  expect(compareDebianVersions('0.012.1', '0:0.12.1')).toBe(0)
})

const pinned = (...lines: readonly string[]) => parsePreferences(lines.join('\n'))

/** `apt-cache policy` of apt 2.6.1 has the same candidate in each row without null, but for `never`, which it rejects. */
test.each([
  ['the newest', [], '0.16.2'],
  ['a pin of a version', ['Package: zephyr', 'Pin: version 0.16.1*', 'Pin-Priority: 990'], '0.16.1'],
  ['a pin of several packages', ['Package: chrony zeph*', 'Pin: version 0.16.1', 'Pin-Priority: 990'], '0.16.1'],
  ['none of them is an older one', ['Package: zephyr', 'Pin: version 0.15.*', 'Pin-Priority: 999'], '0.16.2'],
  ['a downgrade on purpose', ['Package: zephyr', 'Pin: version 0.15.*', 'Pin-Priority: 1000'], '0.15.0'],
  ['a version that is excluded', ['Package: zephyr', 'Pin: version 0.16.2', 'Pin-Priority: -1'], '0.16.1'],
  ['never', ['Package: zephyr', 'Pin: version *', 'Pin-Priority: never'], '0.16.0'],
  [
    'the installed version, which no list has',
    ['Package: zephyr', 'Pin: version 0.16.0', 'Pin-Priority: 990'],
    '0.16.0',
  ],
  ['more than the installed version has', ['Package: zephyr', 'Pin: version 0.16.2', 'Pin-Priority: 100'], '0.16.1'],
  ['a `*` at both ends is none at the first', ['Package: zephyr', 'Pin: version *.1*', 'Pin-Priority: 990'], '0.16.1'],
  [
    'the first that matches',
    [
      'Package: zephyr',
      'Pin: version 0.16.2',
      'Pin-Priority: -1',
      '',
      'Package: zephyr',
      'Pin: version *',
      'Pin-Priority: 500',
    ],
    '0.16.1',
  ],
  ['another package', ['Package: chrony', 'Pin: release a=stable', 'Pin-Priority: 1001'], '0.16.2'],
  ['a pattern of another', ['Package: chron? chrony:amd64', 'Pin: release a=stable', 'Pin-Priority: 1'], '0.16.2'],
  ['all packages', ['Explanation: of Ubuntu', 'Package: *', 'Pin: release o=UbuntuESM', 'Pin-Priority: -1'], '0.16.2'],
  ['all, by version', ['Package: *', 'Pin: version 0.16*', 'Pin-Priority: 1'], '0.16.2'],
  ['all of a repository', ['Package: *', 'Pin: origin "packages.example"', 'Pin-Priority: 50'], null],
  ['a release', ['Package: zephyr', 'Pin: release a=stable', 'Pin-Priority: 990'], null],
  ['a stanza that is not complete', ['Package: zephyr', 'Pin: release a=stable'], '0.16.2'],
])('pins: %s', (_, lines, expected) => {
  const available = ['0.15.0', '0.16.2', '0.16.1']
  expect(chooseVersion({ name: 'zephyr', installed: '0.16.0', available, pins: pinned(...lines) })).toBe(expected)
})

test.each(['/^ze/', 'zephy?', 'zephy[r]', 'src:zephyr', 'zephyr:amd64'])(
  'a pin of %j: whether it names the package is not evaluated',
  (pattern) => {
    const pins = pinned(`Package: ${pattern}`, 'Pin: version 0.16.2', 'Pin-Priority: 990')
    expect(chooseVersion({ name: 'zephyr', installed: '0.16.0', available: ['0.16.2'], pins })).toBeNull()
  },
)

test.each([String.raw`/^0\.16\./`, '0.16.[0-9]*', '0.16.?', String.raw`0.16.\0`])(
  'a pin of version %s: whether it matches is not evaluated',
  (pattern) => {
    const pins = pinned('Package: zephyr', `Pin: version ${pattern}`, 'Pin-Priority: 1001')
    expect(chooseVersion({ name: 'zephyr', installed: '0.16.0', available: ['0.17.0'], pins })).toBeNull()
  },
)

test('a listed installed version: a newer one of a lower priority is not offered', () => {
  const pins = pinned('Package: zephyr', 'Pin: version 0.17.*', 'Pin-Priority: 400')
  const available = ['0.16.0', '0.17.0']
  expect(chooseVersion({ name: 'zephyr', installed: '0.16.0', available, pins })).toBe('0.16.0')
})

test('without a newer version it is the installed one', () => {
  expect(chooseVersion({ name: 'zephyr', installed: '0.17.0', available: ['0.16.2'], pins: [] })).toBe('0.17.0')
})

test.each([
  ['Package: zephyr\nVersion: 0.16.2~rc.1\nArchitecture: amd64\nDescription: of\n Version: 9\n', '0.16.2~rc.1'],
  ['Package: zephyr\nversion:   1:0.16.2-1\narchitecture: amd64', '1:0.16.2-1'],
  ['Package: zephyr\nVersion: $(reboot)\nArchitecture: amd64', undefined],
  ['Package: zephyr\nArchitecture: amd64', undefined],
  ['Package: zephyr\nVersion: 1', undefined],
])('version and architecture of a stanza', (stanza, version) => {
  expect(parseOfferedVersion(stanza) ?? undefined).toEqual(version && { version, architecture: 'amd64' })
})

test.each(['*', 'a*', '-', '1-', '~', 'a1'])('100 kB of %j take no time', (piece) => {
  const many = piece.repeat(Math.ceil(100_000 / piece.length))
  const begun = process.cpuUsage()
  const pins = pinned(`Package: ${many}`, `Pin: version ${many}!`, 'Pin-Priority: 1')
  chooseVersion({ name: 'a'.repeat(1000), installed: '1', available: ['a'.repeat(1000)], pins })
  compareDebianVersions(many, `${many}!`)
  parseOfferedVersion(`Version: ${many}`)
  expect(cpuMsSince(begun)).toBeLessThan(1000)
})
