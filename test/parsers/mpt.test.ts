import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ParseError } from '../../src/core/errors.ts'
import { parseStorageReport, readStorageFailure, type StorageReport } from '../../src/parsers/mpt.ts'

const FIXTURES = new URL('../fixtures/mpt/', import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, FIXTURES), 'utf8')
const names = readdirSync(FIXTURES).filter((name) => name.endsWith('.txt'))

/** Every value by its path, without the figures about the report itself. */
const leaves = (value: unknown, path = ''): readonly (readonly [string, unknown])[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}/${key}`))
    : [[path, value]]
const ABOUT_THE_REPORT = ['/layout', '/complete', '/unknownLines']

const tryParse = (text: string): readonly StorageReport[] => {
  try {
    return [parseStorageReport(text)]
  } catch (error) {
    expect(error).toBeInstanceOf(ParseError)
    return []
  }
}

/** As a pager shows a text that is wider than the terminal. */
const chop = (text: string, width: number): string =>
  text
    .split('\n')
    .map((line) => (line.length > width ? `${line.slice(0, width - 1)}>` : line))
    .join('\n')

describe.each(names)('%s has no other metrics', (name) => {
  const text = read(name)
  const whole = new Map(leaves(parseStorageReport(text)))
  const expectLess = (report: StorageReport): void => {
    for (const [path, value] of leaves(report)) {
      if (value === null || ABOUT_THE_REPORT.includes(path)) continue
      // The last number of a whole report may have lost digits, which cannot be detected.
      if (report.complete && path.endsWith('/autoExpireBlock')) continue
      expect([path, value]).toEqual([path, whole.get(path)])
    }
  }

  test('cut after any character', () => {
    const prefixes = Array.from({ length: text.length }, (_, length) => text.slice(0, length))
    const reports = prefixes.flatMap(tryParse)
    expect(reports.length).toBeGreaterThan(200)
    reports.forEach(expectLess)
  })

  test('in a terminal of any width', () => {
    for (let width = 10; width < 160; width += 1) {
      const chopped = chop(text, width)
      const [report] = tryParse(chopped)
      if (!report) continue
      expectLess(report)
      if (chopped !== text && !name.includes('logged')) expect(report.complete).toBe(false)
    }
  })
})

test('the final line feed may be missing: programs that run tools strip it', () => {
  const text = read('c-full-disk.txt')
  expect(parseStorageReport(text.trimEnd())).toEqual(parseStorageReport(text))
})

test('the bound on the history is never a height', () => {
  const report = parseStorageReport(read('e-single.txt'))
  expect(report.historyMaxBlocks).toBe(65_536n)
  const others = new Map(leaves({ ...report, historyMaxBlocks: null }))
  expect([...others.values()]).not.toContain(65_536n)
})

test('numbers of 64 bits keep every digit', () => {
  const text = read('a-v0.10.txt')
    .replace('finalized is 8099998', 'finalized is 9223372036854775809')
    .replace('expire version is 8059000', 'expire version is -9223372036854775807')
  const { latestBlock, timelines } = parseStorageReport(text)
  expect(latestBlock.finalized).toBe(9_223_372_036_854_775_809n)
  expect(timelines.primary?.autoExpireBlock).toBe(-9_223_372_036_854_775_807n)
})

const FAILURES: readonly (readonly [string, string, RegExp | undefined])[] = [
  [
    'upgrade.txt',
    "DB is on older format (magic=OLD1) and this binary expects NEW2. Run 'chain-mpt --upgrade --storage <path>' first.",
    /--upgrade/,
  ],
  ['dirty.txt', 'DB metadata was closed dirty, but not opened for healing', /no action needed/],
  ['corrupt.txt', 'Neither copy of the DB metadata is valid: 1, 2', /names the device .* damaged/],
  ['no-message.txt', "Assertion 'data != MAP_FAILED' failed.", /huge pages/],
  ['other-assertion.txt', "Assertion 'chunk < count' failed.", undefined],
  ['fatal.txt', '--storage is required', /storage\.devices/],
  ['open.txt', 'open failed due to Permission denied', /can read it/],
  [
    'foreign-pool.txt',
    'Storage pool source /dev/sdz9 has not been initialised for use with storage pool',
    /not the node's database/,
  ],
  ['generated.txt', 'DB was generated with version 3 and this is 4', /different releases/],
  ['io-uring.txt', 'io_uring_queue_init_params failed: Operation not permitted', /kernel\.io_uring_disabled/],
  ['cut.txt', 'DB metadata was closed dirty, but not opened for hea', /no action needed/],
]

test.each(FAILURES)('failure: %s', (name, message, advice) => {
  const failure = readStorageFailure(read(`failures/${name}`))
  expect(failure?.message).toBe(message)
  if (advice) expect(failure?.advice).toMatch(advice)
  else expect(failure).toHaveProperty('advice', undefined)
})

test('every failure is in the table', () => {
  const files = readdirSync(new URL('failures/', FIXTURES))
  expect(files.toSorted()).toEqual(FAILURES.map(([name]) => name).toSorted())
})

test.each(['', '\n', 'something else went wrong\n'])('no reason in %j', (stderr) => {
  expect(readStorageFailure(stderr)).toBeNull()
})
