import { rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { storage } from '../../src/collectors/storage/collector.ts'
import { SourceError } from '../../src/core/errors.ts'
import { createStorageReport } from '../../src/sources/reports.ts'
import { it } from '../support/directory.ts'
import { manualClock } from '../support/manual-clock.ts'
import { recording } from './recording.ts'
import { runPolls } from './run-collector.ts'

const SENTINEL = '18446744073709551615'
const ID = 'ab'.repeat(32)
const report = (finalized: string): string => `MPT database on storages:
          Capacity           Used      %  Path
           2.00 Tb      850.00 Gb 41.50%  "/dev/nvme3n1p2"
MPT database internal lists:
     Fast: 100 chunks with capacity 25.00 Gb used 24.00 Gb
     Slow: 2 chunks with capacity 512.00 Mb used 100.00 Mb
     Free: 0 chunks
MPT database has 500 history, earliest is 1001 latest is 1500.
     It has been configured to retain no more than 4096.
     Latest proposed is (1500, ${ID}).
     Latest voted is (1499, ${ID}).
     Latest finalized is ${finalized}, latest verified is ${finalized === SENTINEL ? SENTINEL : '1495'}, auto expire version is 1001
`

const watch = async (...answers: readonly (string | Error)[]) => {
  const clock = manualClock()
  const left = [...answers]
  const collector = storage({
    readStorage: () => {
      const next = left.shift() ?? new Error('unexpected read')
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next)
    },
    clock,
    recorder: recording().recorder,
    timing: { interval: 60_000, timeout: 20_000 },
  })
  return { clock, ...(await runPolls(collector, clock, 'chain_storage_')) }
}

test('without one of the three lists, no chunks: their share would be that of an empty database', async () => {
  const { shown } = await watch(report('1498').replace(/^ {5}Fast.*\n/m, ''))
  const names = Object.keys(shown())
  expect(names.filter((name) => name.startsWith('chunks{'))).toEqual([])
  expect(names).toContain('used_ratio{/dev/nvme3n1p2}')
})

test('the path of a database in a home directory is without its user', async () => {
  const { shown } = await watch(report('1498').replace('/dev/nvme3n1p2', '/home/operator/triedb.img'))
  expect(Object.keys(shown()).filter((name) => name.startsWith('used_ratio'))).toEqual(['used_ratio{~/triedb.img}'])
})

test('exports what the report contains, and nothing else', async () => {
  const { shown } = await watch(report('1498'))
  expect(shown()).toEqual({
    'capacity_bytes{/dev/nvme3n1p2}': 2 * 1024 ** 4,
    'used_bytes{/dev/nvme3n1p2}': 850 * 1024 ** 3,
    'used_ratio{/dev/nvme3n1p2}': 0.415,
    'chunks{fast}': 100,
    'chunks_capacity_bytes{fast}': 25 * 1024 ** 3,
    'chunks_used_bytes{fast}': 24 * 1024 ** 3,
    'chunks{slow}': 2,
    'chunks_capacity_bytes{slow}': 512 * 1024 ** 2,
    'chunks_used_bytes{slow}': 100 * 1024 ** 2,
    'chunks{free}': 0,
    'chunks_capacity_bytes{free}': 0,
    'chunks_used_bytes{free}': 0,
    'history_blocks{primary}': 500,
    'history_earliest_block{primary}': 1001,
    'history_latest_block{primary}': 1500,
    history_max_blocks: 4096,
    'latest_block{proposed}': 1500,
    'latest_block{voted}': 1499,
    'latest_block{finalized}': 1498,
    'latest_block{verified}': 1495,
    'auto_expire_block{primary}': 1001,
  })
})

describe('never set', () => {
  test('after a report with values is read again, and passes', async () => {
    const { clock, outcomes, shown } = await watch(report('1498'), report(SENTINEL), report('1600'))
    await clock.advance(60_000)
    expect(outcomes).toHaveLength(1)
    await clock.advance(2000)
    expect(shown()).toHaveProperty('latest_block{finalized}', 1600)
  })
  test('twice is exported: absent, never the sentinel', async () => {
    const { clock, shown } = await watch(report('1498'), report(SENTINEL), report(SENTINEL))
    await clock.advance(60_000)
    await clock.advance(2000)
    expect(Object.keys(shown()).filter((name) => name.includes('finalized'))).toEqual([])
    expect(shown()).toHaveProperty('latest_block{proposed}', 1500)
  })
  test('on a new database is exported at once', async () => {
    const { outcomes, shown } = await watch(report(SENTINEL))
    expect(outcomes).toHaveLength(1)
    expect(shown()).not.toHaveProperty('latest_block{finalized}')
  })
})

test('the reason why the tool aborted is the line after its stack trace', async () => {
  const stderr = [
    '',
    '      0x55d0c1',
    '',
    '   Attempting async signal unsafe human readable stacktrace (this may hang):',
    '      0x55d0c1: main',
    'chain-mpt: db.cpp:12: void open(): MONAD_ABORT called.',
    'DB is on older format (magic=CHAIN007) and this binary expects CHAIN008.',
  ].join('\n')
  const aborted = new SourceError(
    { doing: 'run chain-mpt --storage', happened: 'killed by SIGABRT', evidence: 'x' },
    { output: stderr },
  )
  const { states } = await watch(aborted)
  expect(states).toThrowErrorMatchingInlineSnapshot(`
    [SourceError: Could not read the storage report: DB is on older format (magic=CHAIN007) and this binary expects CHAIN008.
      what to do: the package is newer than the database: stop the services together, run the tool with --upgrade once, start them together]
  `)
})

it('a report from a file, while it is recent', async ({ directory }) => {
  const never = new AbortController().signal
  const path = join(directory, 'report.txt')
  await writeFile(path, 'report')
  await utimes(path, 1_772_359_200, 1_772_359_200)
  const clock = manualClock(1_772_359_200_000 + 140_000)
  // Two intervals and a timeout: 140 s.
  const timing = { interval: 60_000, timeout: 20_000 }
  const read = createStorageReport({ reportFile: path, ...timing }, clock)
  if (!read) throw new Error('no file is configured')
  expect(await read(never)).toBe('report')
  await clock.advance(1)
  await expect(read(never)).rejects.toThrow('it is older than 140s')
  for (const written of [0, 1_772_359_401, 253_402_300_799]) {
    await utimes(path, written, written)
    await expect(read(never)).rejects.toThrow('its modification time is later than now, or not set')
  }
  await rm(path)
  await expect(read(never)).rejects.toThrow('chain-agent-storage.timer')
})
