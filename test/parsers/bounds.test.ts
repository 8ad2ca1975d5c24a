import { describe, expect, test } from 'vitest'
import { certificateEnd, pastTime } from '../../src/core/bounds.ts'
import { ParseError } from '../../src/core/errors.ts'
import { parseU64 } from '../../src/core/units.ts'
import { parseHeartbeat } from '../../src/parsers/heartbeat.ts'
import {
  parseColumns,
  parseCount,
  parseBootTime,
  parsePressure,
  parseTemperature,
} from '../../src/parsers/kernel-files.ts'
import { parseLedgerLine } from '../../src/parsers/ledger-tail.ts'
import { parseStorageReport } from '../../src/parsers/mpt.ts'
import { parseRpcAmount, parseRpcBlock, parseRpcQuantity } from '../../src/parsers/rpc.ts'
import { parseDriveHealth } from '../../src/parsers/smartctl.ts'
import { parseWithdrawalRequest } from '../../src/parsers/staking.ts'
import { parseRatio, parseSpan, parseStatusReport } from '../../src/parsers/status.ts'
import { parseUnits } from '../../src/parsers/systemctl.ts'
import { parseTimesyncOffset, parseTracking } from '../../src/parsers/time-sync.ts'
import { parseEpochStarts, parseValidatorSets } from '../../src/parsers/validators.ts'

const U64_MAX = '18446744073709551615'
const I64_MAX = '9223372036854775807'
/** 2026-03-01T10:00:00Z. */
const NOW = 1_772_359_200_000

const unit = (property: string, value: string) =>
  parseUnits(`Id=a.service\nActiveState=active\nExecMainCode=1\n${property}=${value}\n`)[0]
const drive = (field: string, value: string) =>
  parseDriveHealth(
    `{"smartctl":{"version":[7,4]},"model_name":"ACME","nvme_smart_health_information_log":{"${field}":${value}}}`,
  )
const status = (line: string) => parseStatusReport(`version: 1\nconsensus:\n  status: up\n  ${line}\n`)
const answer = (result: unknown) => JSON.stringify({ result })
const block = (field: string, value: string) =>
  parseRpcBlock(answer({ number: '0x10', timestamp: '0x69a40e20', [field]: value }))
const ledger = (blockMs: string) =>
  parseLedgerLine(
    JSON.stringify({
      timestamp: '2026-03-01T10:00:00Z',
      level: 'INFO',
      target: 'ledger_tail',
      fields: {
        message: 'finalized_block',
        round: '9',
        seq_num: '8',
        author: `02${'a1'.repeat(32)}`,
        now_ts_ms: `${NOW}`,
        block_ts_ms: blockMs,
      },
    }),
  )
const heartbeat = (field: string, value: string) =>
  parseHeartbeat(
    `{"at":"2026-03-01T10:00:00Z","health":"healthy","causes":[],"maintenance":null,"height":1,"blockTime":null,"blockDifference":0,"${field}":${value}}`,
  )
const tracking = (time: string, correction: string) =>
  parseTracking(`A0000001,ntp,2,${time}.0,${correction},0.0,0.0,0.0,0.0,0.0,0.0,0.0,64.0,Normal`, NOW).aheadSeconds
const device = (capacity: string, percent: string) =>
  parseStorageReport(`${capacity} 1.00 Gb ${percent}% "/dev/a"\n`).devices[0]
const stat = (boot: string) => parseBootTime(`cpu 1 2 3 4 5\nbtime ${boot}\n`)

interface Row {
  readonly read: (text: string) => unknown
  /** Texts and what they mean: the values next to those that are unknown. */
  readonly known: Readonly<Record<string, unknown>>
  readonly unknown: readonly string[]
}

const ROWS: Readonly<Record<string, Row>> = {
  'a counter of 64 bits': {
    read: (text) => parseU64(text) ?? null,
    known: { '0': 0n, '9223372036854775806': 2n ** 63n - 2n, '18446744073709551614': 2n ** 64n - 2n },
    unknown: [U64_MAX, I64_MAX],
  },
  'a counter of the kernel': {
    read: (text) => parseCount('it', text),
    known: { '0': 0n, '65535': 65_535n },
    unknown: [U64_MAX, I64_MAX],
  },
  'pressure of the kernel, in microseconds': {
    read: (text) => parsePressure(`some avg10=0.00 total=1000000\nfull avg10=0.00 total=${text}\n`).full,
    known: { '0': 0, '2500000': 2.5 },
    unknown: [U64_MAX],
  },
  'boot time': {
    read: stat,
    known: { '1420070400': 1_420_070_400n, '4102444800': 4_102_444_800n },
    unknown: ['0', '45', '1420070399', '4102444801', '253402300799', U64_MAX],
  },
  'temperature of the kernel, in thousandths': {
    read: (text) => parseTemperature('it', text),
    known: { '-60000': -60, '0': 0, '47850': 47.85, '200000': 200 },
    unknown: ['-273150', '-273100', '-272150', '65261850', '200001'],
  },
  'temperature of smartctl': {
    read: (text) => drive('temperature', text).celsius,
    known: { '-60': -60, '0': 0, '200': 200 },
    unknown: ['-273', '65262', '-61', '201'],
  },
  'warning of a drive': {
    read: (text) => drive('critical_warning', text).criticalWarning,
    known: { '0': 0, '31': 31 },
    unknown: ['255', '65535', '-1'],
  },
  'endurance of a drive': {
    read: (text) => drive('percentage_used', text).usedRatio,
    known: { '0': 0, '101': 1.01, '255': 2.55 },
    unknown: ['256', '65535', '-1'],
  },
  'errors of a drive': {
    read: (text) => drive('media_errors', text).mediaErrors,
    known: { '0': 0, '4294967294': 4_294_967_294 },
    unknown: ['4294967295', '-1', U64_MAX],
  },
  'hours of a drive': {
    read: (text) => drive('power_on_hours', text).poweredHours,
    known: { '65535': 65_535, '876600': 876_600 },
    unknown: ['876601', '4294967295', '-1'],
  },
  'data units of a drive': {
    read: (text) => drive('data_units_written', text).dataUnitsWritten,
    known: { '0': 0, '1000000000000': 10 ** 12 },
    unknown: ['1000000000001', U64_MAX, '-1'],
  },
  'memory of a unit': {
    read: (text) => unit('MemoryCurrent', text)?.memoryBytes,
    known: { '0': 0n, '6442450944': 6_442_450_944n },
    unknown: [U64_MAX, I64_MAX, '9223372036854771712', '[not set]', 'infinity'],
  },
  'CPU time of a unit': {
    read: (text) => unit('CPUUsageNSec', text)?.cpuSeconds,
    known: { '0': 0, '1500000000': 1.5 },
    unknown: [U64_MAX, I64_MAX, '[not set]'],
  },
  'tasks of a unit': {
    read: (text) => unit('TasksCurrent', text)?.tasks,
    known: { '42': 42n, '4194304': 4_194_304n },
    unknown: [U64_MAX, '4194305', '[not set]'],
  },
  'restarts of a unit': {
    read: (text) => unit('NRestarts', text)?.restarts,
    known: { '0': 0n, '4294967294': 4_294_967_294n },
    unknown: ['4294967295', U64_MAX],
  },
  'exit status of a unit': {
    read: (text) => unit('ExecMainStatus', text)?.exit,
    known: { '0': { by: 'exit', status: 0n }, '255': { by: 'exit', status: 255n } },
    unknown: ['256', '4294967295', '-1'],
  },
  'time of a unit': {
    read: (text) => unit('ExecMainStartTimestamp', text)?.startedAt,
    known: {
      'Thu 2015-01-01 00:00:00 UTC': Date.UTC(2015, 0),
      'Sun 2026-03-01 10:00:00.123456 UTC': NOW + 123,
      'Fri 2100-01-01 00:00:00 UTC': Date.UTC(2100, 0),
      '@1772359200': NOW,
    },
    unknown: [
      '',
      'n/a',
      '0',
      '@0',
      // Three zones share that name.
      'Sun 2026-03-01 11:00:00 CET',
      'Thu 1970-01-01 00:00:42 UTC',
      'Wed 2014-12-31 23:59:59 UTC',
      'Fri 9999-12-31 23:59:59 UTC',
      '@99999999999',
    ],
  },
  'an age in the status report': {
    read: parseSpan,
    known: { '20 years': 631_152_000, '30 years ago': -946_728_000 },
    unknown: ['56 years ago', '20514 days', '584542y', 'never'],
  },
  'a ratio in the status report': {
    read: parseRatio,
    known: { '0%': 0, '16.24%': 0.1624, '100.0000%': 1 },
    unknown: ['100.01%', '999%', '-1%', 'nan%', '16.24', ''],
  },
  'the difference in the status report': {
    read: (text) => status(`blockDifference: ${text}`).consensus.blockDifference,
    known: { '-3': -3n, '9223372036854775806': 2n ** 63n - 2n },
    unknown: ['-9223372036854775808', I64_MAX],
  },
  'an epoch in the status report': {
    read: (text) => status(`epoch: ${text}`).consensus.epoch,
    known: { '0': 0n, '12': 12n },
    unknown: [U64_MAX, I64_MAX, '-1'],
  },
  'capacity of a device': {
    read: (text) => device(text, '16.24')?.capacityBytes,
    known: { '1.75 Tb': 1_924_145_348_608, '7.99 Pb': 8_995_940_255_672_566 },
    unknown: ['8.00 Pb', '16384.00 Pb'],
  },
  'use of a device': {
    read: (text) => device('1.75 Tb', text)?.usedRatio,
    known: { '0.00': 0, '100.00': 1 },
    unknown: ['100.01', '655.35'],
  },
  'a quantity of the RPC': {
    read: (text) => orNull(() => parseRpcQuantity(answer(text))),
    known: { '0x0': 0n, '0x7ffffffffffffffe': 2n ** 63n - 2n },
    unknown: ['0xffffffffffffffff', '0x7fffffffffffffff'],
  },
  'an amount of the RPC': {
    read: (text) => orNull(() => parseRpcAmount(answer(text))),
    // 10^12 tokens of 10^18 wei.
    known: { '0x0': 0n, '0xc9f2c9cd04674edea40000000': 10n ** 30n },
    unknown: ['0xc9f2c9cd04674edea40000001', `0x${'f'.repeat(64)}`],
  },
  'the time of a block': {
    read: (text) => block('timestamp', text)?.timestamp,
    known: { '0x69a40e20': 1_772_359_200n, '0xf4865700': 4_102_444_800n },
    // 1970, the year 9999, and 2^64 − 1.
    unknown: ['0x0', '0x1', '0x3afff4417f', '0xffffffffffffffff', `0x${'f'.repeat(64)}`],
  },
  'the base fee of a block': {
    read: (text) => block('baseFeePerGas', text)?.baseFeePerGas,
    known: { '0x174876e800': 100_000_000_000n },
    unknown: ['0xffffffffffffffff', `0x${'f'.repeat(64)}`],
  },
  'the time of a block in the ledger stream': {
    read: (text) => {
      const event = ledger(text)
      return event?.event === 'finalized' ? event.blockAt : 'no block'
    },
    // Up to a minute later than the line.
    known: { '1772359199900': NOW - 100, '1772359260000': NOW + 60_000 },
    unknown: ['1772359260001', '0', '253402300799999', '1772359200', I64_MAX, U64_MAX],
  },
  'the height in a heartbeat': {
    read: (text) => heartbeat('height', text).height,
    known: { '0': 0, '61240118': 61_240_118 },
    unknown: ['-1', '18446744073709551615', '1e308'],
  },
  'the time of a block in a heartbeat': {
    read: (text) => heartbeat('blockTime', text).blockTime,
    known: { '"2026-03-01T10:00:00Z"': '2026-03-01T10:00:00Z' },
    unknown: ['"1970-01-01T00:00:00Z"', '"9999-12-31T23:59:59Z"'],
  },
  'an offset of chrony': {
    read: (text) => tracking('1772359190', text),
    known: { '-0.25': 0.25, '-2147483648.0': 2_147_483_648 },
    unknown: ['2147483649.0', '999999999999.0'],
  },
  'the last response to chrony': {
    read: (text) => tracking(text, '-0.5'),
    known: { '1772359190': 0.5, '1772359260': 0.5 },
    unknown: ['1772359261', '4102444801', '253402300799', '0'],
  },
  'an offset of timesyncd': {
    read: (text) => parseTimesyncOffset(`Offset: ${text}\n`),
    known: { '+1.25ms': -0.001_25, '-1h': 3600 },
    unknown: ['+584542y', '-69y', 'n/a'],
  },
  'a withdrawal of the staking precompile': {
    read: (text) => orNull(() => parseWithdrawalRequest(text.padStart(64, '0') + '0'.repeat(128)).amount),
    known: { '1': 1n, c9f2c9cd04674edea40000000: 10n ** 30n },
    unknown: ['c9f2c9cd04674edea40000001', 'f'.repeat(64)],
  },
  'the stake of a validator': {
    read: (text) =>
      orNull(
        () =>
          parseValidatorSets(
            `[[validator_sets]]\nepoch = 1\n[[validator_sets.validators]]\nnode_id = "02${'a1'.repeat(32)}"\nstake = "${text}"\n`,
          )[0]?.members[0]?.stake,
      ),
    known: { '0x1': 1n, '0xc9f2c9cd04674edea40000000': 10n ** 30n },
    unknown: [`0x${'f'.repeat(64)}`],
  },
  'the first round of an epoch': {
    read: (text) => orNull(() => parseEpochStarts(`[[validator_sets]]\nepoch = 1\nround = ${text}\n`).get(1n)),
    known: { '0': 0n, '9007199254740993': 9_007_199_254_740_993n },
    unknown: [I64_MAX, '-1'],
  },
  'the end of a certificate': {
    read: (text) => certificateEnd({ validTo: text }),
    known: { 'Jan  1 00:00:00 2100 GMT': Date.UTC(2100, 0) },
    // RFC 5280: no expiration.
    unknown: ['Dec 31 23:59:59 9999 GMT', 'Jan  1 00:00:00 1970 GMT', ''],
  },
}

/** A parser of one value throws. */
const orNull = (read: () => unknown): unknown => {
  try {
    return read()
  } catch (error) {
    if (error instanceof ParseError) return null
    throw error
  }
}

describe.each(Object.entries(ROWS))('%s', (_, { read, known, unknown }) => {
  test.each(Object.entries(known))('%s is known', (text, value) => {
    expect(read(text)).toEqual(value)
  })
  test.each(unknown)('%j is unknown', (text) => {
    expect(read(text)).toBeNull()
  })
})

describe('a sentinel does not lose the other values', () => {
  test('of a drive', () => {
    expect(drive('temperature', '-273').model).toBe('ACME')
  })
  test('of the kernel', () => {
    const text = `Udp: InDatagrams RcvbufErrors\nUdp: 900 ${U64_MAX}\n`
    expect(Object.fromEntries(parseColumns('it', 'Udp', text))).toEqual({ InDatagrams: 900n, RcvbufErrors: null })
  })
  test('of a block', () => {
    expect(block('timestamp', '0xffffffffffffffff')).toEqual({ number: 16n, timestamp: null })
    expect(block('baseFeePerGas', `0x${'f'.repeat(64)}`)).toMatchObject({ number: 16n, timestamp: 1_772_359_200n })
    expect(ledger(U64_MAX)).toMatchObject({ round: 9n, seqNum: 8n, writtenAt: NOW, blockAt: null })
  })
  test('of a heartbeat', () => {
    expect(heartbeat('height', '-1')).toMatchObject({ health: 'healthy', blockDifference: 0 })
  })
})

test.each([
  ['now', NOW, NOW],
  ['a minute later, by another clock', NOW + 60_000, NOW + 60_000],
  ['more than a minute later', NOW + 60_001, null],
  ['the year 9999', Date.UTC(9999, 11, 31), null],
  ['1970', 0, null],
  ['unknown', undefined, null],
])('the time of something that has happened: %s', (_, at, expected) => {
  expect(pastTime(at, NOW)).toBe(expected)
})
