import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ParseError } from '../../src/core/errors.ts'
import { EXECUTION_LOG_PATTERN, parseExecutionLine } from '../../src/parsers/execution-log.ts'

const ID = `0x${'0'.repeat(62)}`
const lines = readFileSync(new URL('../fixtures/execution-log/versions.log', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')

/** When it started, transactions, those that were retried, and gas; the durations of the phases and of all. */
const executed = (
  [number, id]: readonly [bigint, string | null],
  [startedAt, transactions, retried, gas]: readonly [number, bigint, bigint, bigint],
  [senderRecovery, execution, commit, total]: readonly [number, number, number, number],
) => {
  const microseconds = { senderRecovery, execution, commit, total }
  return { event: 'executed', number, id, startedAt, transactions, retried, gas, microseconds }
}

const upserted = (
  [version, timeline, earliest]: readonly [bigint, string, bigint | null],
  [microseconds, usedRatio]: readonly [number, number],
  [fast, slow, free]: readonly [bigint, bigint, bigint],
) => ({ event: 'upserted', version, timeline, earliest, microseconds, usedRatio, chunks: { fast, slow, free } })

const CASES: readonly (readonly [name: string, expected: object | null])[] = [
  [
    'until v0.14.4, as journalctl prints it',
    executed([907n, `${ID}a1`], [1_772_526_600_100, 12n, 3n, 1_100_220n], [90, 410, 333, 900]),
  ],
  [
    'from v0.14.5 on the line ends at gps; an empty block',
    executed([41_000_111n, `${ID}a2`], [1_772_526_600_450, 0n, 0n, 0n], [0, 9, 270, 290]),
  ],
  [
    'without statesync, and without a head',
    executed(
      [41_000_112n, `${ID}a3`],
      [1_772_526_600_800, 250n, 100n, 90_000_000n],
      [1200, 1_234_567, 20_000, 1_260_000],
    ),
  ],
  [
    'a build for statistics',
    executed([41_000_113n, `${ID}a4`], [1_772_526_601_150, 1n, 0n, 21_000n], [11, 50, 300, 370]),
  ],
  [
    'without consensus there is no id',
    executed([21_000_000n, null], [1_772_526_601_000, 180n, 7n, 15_000_000n], [700, 9100, 8000, 18_000]),
  ],
  ['before v0.15 there is one timeline', upserted([907n, 'primary', 12n], [640, 0.0312], [200n, 31n, 7193n])],
  ['of two timelines the first', upserted([41_000_112n, 'primary', 40_358_113n], [2500, 0.701], [4870n, 131n, 2133n])],
  [
    'of two timelines the second, with the mark of what was never set',
    upserted([41_000_112n, 'secondary', null], [1, 1], [4870n, 131n, 0n]),
  ],
  // 6032 × 1,048,576
  ['the summary of a block', { event: 'run', number: 41_000_112n, residentBytes: 6_325_010_432 }],
  ['its summary without consensus', { event: 'run', number: 21_000_000n, residentBytes: 10_485_760 }],
  ['a finalization', { event: 'finalized', number: 41_000_110n, id: `${ID}a1` }],
  ['the state roots of two timelines', null],
  ['the state root of one timeline', null],
  [
    'the summary of several blocks, which a replay writes',
    { event: 'run', number: 41_000_212n, residentBytes: 6_325_010_432 },
  ],
  ['the first line of a process', null],
  ['the second half of an upsert alone', null],
  ['a warning', null],
]

describe('every version', () => {
  test('the fixture has a line for each', () => {
    expect(lines).toHaveLength(CASES.length)
  })
  test.each(CASES.map(([name, expected], at) => [name, lines[at] ?? '', expected]))('%s', (_, text, expected) => {
    expect(parseExecutionLine(text)).toEqual(expected)
  })
})

const BLOCK = `__exec_block,bl=     907,id=${ID}a1,ts=1772526600100,tx=   12,rt=   3,rtp=25.00%,sr=   90µs,txe=   410µs,cmt=   333µs,tot=   900µs,tpse=29268,tps=13333,gas=  1100220,gpse=2683,gps=1222`
const UPSERT =
  'Finish upserting version 907 (timeline 0). Min valid version 12. Time elapsed: 640 us. Disk usage: 0.0312. Chunks: 200 fast, 31 slow, 7193 free.'

describe('the prefix of the message is ignored', () => {
  test.each([
    ['nothing', ''],
    ['the head of the program', '2026-03-03 08:30:00.104000001 [811] a.cpp:1 LOG_INFO\t'],
    ['a head in another shape', '2026-03-03T08:30:00.104Z INFO worker-3 a.cpp:1 '],
    ['that of journalctl alone', 'Mar 03 08:30:00 host-b zephyr[811]: '],
    ['another of journalctl', '2026-03-03T08:30:00+0000 host-b zephyr[811]: [811] LOG_INFO  '],
  ])('%s', (_, head) => {
    expect(parseExecutionLine(head + BLOCK)).toMatchObject({ number: 907n })
    expect(parseExecutionLine(head + UPSERT)).toMatchObject({ version: 907n })
  })

  test('a line that only quotes one does not match', () => {
    expect(parseExecutionLine('LOG_INFO block=5, block_id=0xab committed')).toBeNull()
    expect(parseExecutionLine(`LOG_INFO a line begins with "${BLOCK}"`)).toBeNull()
    expect(parseExecutionLine(`LOG_DEBUG x${UPSERT}`)).toBeNull()
    expect(parseExecutionLine('Run with --help for more information.')).toBeNull()
  })
})

test.each(['µs', 'μs', 'Âµs', '\uFFFDs', '\uFFFD\uFFFDs', 'us'])(
  'microseconds, with any encoding of the unit: %s',
  (unit) => {
    expect(parseExecutionLine(BLOCK.replaceAll('µs', unit))).toMatchObject({
      microseconds: { senderRecovery: 90, execution: 410, commit: 333, total: 900 },
    })
  },
)

test.each([
  ['a line that is cut', BLOCK.slice(0, 180), 'the field tot'],
  ['a line that is cut within a number', BLOCK.slice(0, BLOCK.indexOf('1100220') + 3), 'the field gps'],
  ['milliseconds', BLOCK.replace('410µs', '410ms'), 'a good txe'],
  ['a number without a unit', BLOCK.replace('410µs', '410'), 'a good txe'],
  ['a negative number', BLOCK.replace('   12', '  -12'), 'a good tx'],
  ['the mark of what was never set', BLOCK.replace('     907', `${2n ** 64n - 1n}`), 'a good bl'],
  ['a block id that is cut', BLOCK.replace('00a1', 'a1'), 'a good id'],
  ['seconds', BLOCK.replace('1772526600100', '17725266001000000'), 'a good ts'],
  ['other words', BLOCK.replace('gas=', 'fuel='), 'the field gas'],
  ['a third timeline', UPSERT.replace('timeline 0', 'timeline 2'), 'timeline 0 or 1'],
  ['more than all', UPSERT.replace('0.0312', '1.2'), 'use and chunks'],
  ['seconds instead of us', UPSERT.replace('640 us', '640 s'), 'time in us'],
  ['a run without memory', 'Run to block= 5, number of transactions 3', 'rss'],
  ['a number of blocks without memory', 'Run  100 blocks to 5, number of transactions 3', 'rss'],
  ['a finalization of nothing', 'Processing finalization for block ', 'a block and a block_id'],
  ['a finalization that is cut', 'Processing finalization for block 4100', 'a block_id'],
  [
    'a finalization with an incomplete block id',
    'Processing finalization for block 5 with block_id 0xab',
    '64 hex digits',
  ],
])('complains of %s', (_, text, expected) => {
  expect(() => parseExecutionLine(text)).toThrow(ParseError)
  expect(() => parseExecutionLine(text)).toThrow(expected)
})

test('the lines that are parsed match the journalctl pattern, and no others do', () => {
  const pattern = new RegExp(EXECUTION_LOG_PATTERN)
  expect(lines.map((line) => pattern.test(line))).toEqual(CASES.map(([, event]) => event !== null))
})
