import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ParseError } from '../../src/core/errors.ts'
import {
  parseCount,
  parseColumns,
  parseDefaultInterface,
  parseBootTime,
  parseListeners,
  parseNamedCount,
  parseOpenFilesLimit,
  parseMemory,
  parsePressure,
  parseSwitch,
  parseTemperature,
  parseWord,
} from '../../src/parsers/kernel-files.ts'
import { parseDriveHealth } from '../../src/parsers/smartctl.ts'
import { parseNtpSynchronized, parseTimesyncOffset, parseTracking } from '../../src/parsers/time-sync.ts'
import { compareReleases, newestKernel } from '../../src/parsers/version.ts'

const read = (name: string): string => readFileSync(new URL(`../fixtures/host/${name}`, import.meta.url), 'utf8')

describe('sockets, as printed by a real kernel', () => {
  test('of IPv4: everything, 127.0.0.1, and another address of the loopback network', () => {
    expect(parseListeners(read('tcp.txt'))).toEqual([
      { port: 48_080, isLoopback: false },
      { port: 48_081, isLoopback: true },
      { port: 48_082, isLoopback: true },
    ])
  })
  test('of IPv6: everything, ::1, the mapped 127.0.0.1, and the mapped 0.0.0.0', () => {
    const found = new Map(parseListeners(read('tcp6.txt')).map((one) => [one.port, one.isLoopback]))
    expect(found).toEqual(
      new Map([
        [48_083, false],
        [48_084, true],
        [48_085, true],
        [48_086, false],
      ]),
    )
  })
  test('the last line of a truncated table is ignored', () => {
    const text = read('tcp.txt')
    const second = text.indexOf('0100007F:BBD1')
    for (let length = second - 6; length < second + 60; length += 1) {
      expect(parseListeners(text.slice(0, length))).toEqual([{ port: 48_080, isLoopback: false }])
    }
  })
  test('of one interface, private or public, are exposed', () => {
    const [head = ''] = read('tcp.txt').split('\n')
    // 10.1.2.3 and 203.0.113.9
    const rows = ['0302010A:1F90', '097100CB:23B7'].map((local) => `  0: ${local} 00000000:0000 0A`)
    expect(parseListeners([head, ...rows, ''].join('\n'))).toEqual([
      { port: 8080, isLoopback: false },
      { port: 9143, isLoopback: false },
    ])
  })
})

test('the soft limit of open files, as printed by a real kernel; unlimited is null', () => {
  expect(parseOpenFilesLimit(read('limits-1024.txt'))).toBe(1024n)
  expect(parseOpenFilesLimit('Max open files            unlimited            unlimited            files\n')).toBeNull()
})

test('the boot time', () => {
  expect(parseBootTime(read('stat.txt'))).toBe(1_772_366_400n)
})

test('small files of the kernel', () => {
  expect(parseCount('it', '2048\n')).toBe(2048n)
  expect(parseSwitch('it', '1\n')).toBe(true)
  expect(parseSwitch('it', '0\n')).toBe(false)
  expect(parseTemperature('it', '44850\n')).toBe(44.85)
  expect(parseTemperature('it', '-3000\n')).toBe(-3)
  expect(parseWord('it', 'ACME  Drive 960                \n')).toBe('ACME Drive 960')
})

describe('kernels', () => {
  test('the newest is the greatest number, not the last in alphabetical order', () => {
    expect(
      newestKernel([
        'config-6.8.0-200-generic',
        'vmlinuz',
        'vmlinuz.old',
        'vmlinuz-6.8.0-59-generic',
        'vmlinuz-6.8.0-100-generic',
        'vmlinuz-6.8.0-9-generic',
        'vmlinuz-5.15.0-170-generic',
        'vmlinuz-0-rescue-8d1f',
        'initrd.img-6.9.1-1-generic',
      ]),
    ).toBe('6.8.0-100-generic')
    expect(newestKernel(['grub', 'vmlinuz'])).toBeNull()
  })
  test.each([
    ['6.8.0-58-generic', '6.8.0-59-generic'],
    ['6.8.0-99-generic', '6.8.0-100-generic'],
    ['6.9.0-rc3', '6.9.0'],
    ['6.8.0', '6.8.0-1-generic'],
    ['6.1.0-9-amd64', '6.1.0-10-amd64'],
  ])('%s is older than %s', (older, newer) => {
    expect(compareReleases(older, newer)).toBeLessThan(0)
    expect(compareReleases(newer, older)).toBeGreaterThan(0)
    expect(compareReleases(newer, newer)).toBe(0)
  })
})

describe('the clock', () => {
  test('chrony prints the correction: a negative offset means that the clock is ahead', () => {
    expect(parseTracking(read('chrony-tracking.txt'))).toEqual({
      synchronized: true,
      aheadSeconds: 0.000041208,
    })
  })
  test.each(['chrony-lost.txt', 'chrony-local.txt'])('%s: not synchronized', (name) => {
    expect(parseTracking(read(name))).toEqual({ synchronized: false, aheadSeconds: null })
  })
  test('without a response for hours the clock is not synchronized, whatever chrony reports', () => {
    const [answeredAt, hour] = [1_772_366_412_104, 3_600_000]
    const after = (ms: number, text = read('chrony-tracking.txt')) => parseTracking(text, answeredAt + ms)
    expect(after(3 * hour)).toEqual({ synchronized: true, aheadSeconds: 0.000041208 })
    const forsaken = { synchronized: false, aheadSeconds: null, isSourceLost: true }
    expect(after(3 * hour + 1000)).toEqual(forsaken)
    // Asked every 2048 seconds, it may miss ten answers: 20480 s.
    const rarely = read('chrony-tracking.txt').replace(',64.4,', ',2048.0,')
    expect(after(20_480_000, rarely).synchronized).toBe(true)
    expect(after(20_481_000, rarely)).toEqual(forsaken)
    // A clock that was behind until it was set.
    expect(after(-9 * hour).synchronized).toBe(true)
  })
  test('systemd prints the correction', () => {
    expect(parseTimesyncOffset(read('timesync-status.txt'))).toBeCloseTo(-0.002125, 9)
    const other = (offset: string) => parseTimesyncOffset(read('timesync-status.txt').replace('+2.125ms', offset))
    expect(other('-251us')).toBeCloseTo(0.000251, 9)
    expect(other('-1min 2.5s')).toBeCloseTo(62.5, 9)
    expect(other('+0')).toBe(0)
    expect(other('n/a')).toBeNull()
  })
  test('without a server there is no offset (null)', () => {
    expect(parseTimesyncOffset('       Server: n/a\n Packet count: 0\n')).toBeNull()
  })
  test('whether it is kept', () => {
    expect(parseNtpSynchronized('NTPSynchronized=yes\n')).toBe(true)
    expect(parseNtpSynchronized('NTPSynchronized=no\n')).toBe(false)
  })
})

describe('the health of drives', () => {
  test('healthy', () => {
    expect(parseDriveHealth(read('smart-well.json'))).toEqual({
      model: 'ACME Drive 3840',
      firmware: 'AC20',
      criticalWarning: 0,
      celsius: 47,
      mediaErrors: 0,
      usedRatio: 0.03,
      dataUnitsWritten: 312_209_871,
      poweredHours: 4380,
    })
  })
  test('failing: two bits of warning, and used up beyond what was promised', () => {
    expect(parseDriveHealth(read('smart-failing.json'))).toMatchObject({
      criticalWarning: 5,
      mediaErrors: 277,
      usedRatio: 1.31,
    })
  })
  test.each(['smart-sata.json', 'smart-cannot-open.json'])('%s: no value is 0', (name) => {
    expect(parseDriveHealth(read(name))).toMatchObject({
      criticalWarning: null,
      mediaErrors: null,
      usedRatio: null,
      dataUnitsWritten: null,
      poweredHours: null,
    })
  })
  test('a count that a number cannot hold is left out, not rounded', () => {
    const text = read('smart-failing.json').replace('277', '18446744073709551616')
    expect(parseDriveHealth(text)).toMatchObject({ mediaErrors: null, criticalWarning: 5 })
  })
})

describe('waiting and lost packets', () => {
  test('pressure in seconds; kernels before 5.13 have no line full for the CPU', () => {
    expect(parsePressure('some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\n')).toEqual({ some: 1.5, full: null })
  })
  test('a count that the kernel does not have is unknown', () => {
    expect(parseNamedCount('oom_kill', 'oom_kill_other 9\n')).toBeNull()
  })
})

const tracking = read('chrony-tracking.txt')
const timesync = read('timesync-status.txt')

test.each<readonly [(text: string) => unknown, readonly string[]]>([
  [parseListeners, ['', 'sl local rem st\n', `${read('tcp.txt')}  9: 0100007F 00000000:0000 0A\n`]],
  [parseOpenFilesLimit, ['', 'Max open files\n', 'Max open files            many     9      files\n']],
  [parseBootTime, ['', 'btime x\n', 'cpu  1 2 3 4 5\n']],
  [(text) => parseCount('it', text), ['-1\n']],
  [(text) => parseSwitch('it', text), ['forceoff\n']],
  [(text) => parseTemperature('it', text), ['']],
  [(text) => parseWord('it', text), ['\n']],
  [
    parseTracking,
    [
      '',
      '506 Cannot talk to daemon\n',
      tracking.replace(',3,', ','),
      tracking.replace(/,1772366412[.]\d+,/, ',soon,'),
      tracking.replace(',64.4,', ',often,'),
    ],
  ],
  [parseTimesyncOffset, ['', timesync.replace('+2.125ms', 'soon'), timesync.replace('+2.125ms', '+3 moons')]],
  [parseNtpSynchronized, ['']],
  [parseDriveHealth, ['', '[]', '{}', 'smartctl 7.4 2023-08-01']],
  [parsePressure, ['some avg10=0.00\n']],
  [parseMemory, ['MemTotal: 16 kB\nMemFree: 4 kB\n', 'MemTotal: 0 kB\nMemAvailable: 0 kB\n']],
  // Columns that do not match, and another protocol.
  [(text) => parseColumns('x', 'Udp', text), ['Udp: A B\nUdp: 1\n', 'UdpLite: A\nUdpLite: 1\n']],
  [parseDefaultInterface, ['eth0 00000000\n']],
  [(text) => parseNamedCount('oom_kill', text), ['oom_kill many\n']],
])('%o does not understand %j', (parse, texts) => {
  for (const text of texts) expect(() => parse(text), text).toThrow(ParseError)
})
