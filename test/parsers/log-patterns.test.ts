import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { LOG_PATTERNS } from '../../src/parsers/log-patterns/list.ts'
import {
  LOG_PATTERN,
  mayMatchPattern,
  parsePatternLine,
  patternsOf,
  classifyLine,
} from '../../src/parsers/log-patterns/classify.ts'

const row = z.object({
  service: z.enum(['bft', 'execution', 'rpc', 'cruft']),
  note: z.string(),
  line: z.string(),
  patterns: z.array(z.string()),
})
const rows = readFileSync(new URL('../fixtures/log-patterns/lines.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => row.parse(JSON.parse(line)))

const namesIn = (service: string, line: string): readonly string[] =>
  classifyLine(patternsOf(service), line).patterns.map(({ name }) => name)

describe('the table', () => {
  test.each(rows)('$service, $note: $patterns', ({ service, line, patterns }) => {
    expect(namesIn(service, line)).toEqual(patterns)
    // A line that journalctl drops cannot be recognised.
    if (patterns.length > 0) expect(mayMatchPattern(line)).toBe(true)
  })

  test('of a block that failed, the line about its transaction is an error, and no pattern', () => {
    const head = '2026-05-02 08:00:01.204411902 [7711] execute_block.cpp:296 LOG_ERROR\t'
    const line = `${head}tx 3 0x9f2c validation failed: insufficient balance`
    expect(classifyLine(patternsOf('execution'), line)).toMatchObject({ patterns: [], level: 'error' })
  })

  test('each pattern has a line of its own among them', () => {
    const shown = new Set(rows.flatMap(({ patterns }) => patterns))
    expect(LOG_PATTERNS.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([])
  })

  test('names are words with underscores, each once', () => {
    const names = LOG_PATTERNS.map(({ name }) => name)
    expect(names.filter((name) => !/^[a-z]+(?:_[a-z]+)*$/.test(name))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })

  test('a line of a process that has ended is critical', () => {
    const ended = LOG_PATTERNS.filter(({ endsProcess }) => endsProcess)
    expect(ended.length).toBeGreaterThan(30)
    expect(ended.filter(({ severity }) => severity !== 'critical').map(({ name }) => name)).toEqual([])
  })

  test('an unknown service has only the patterns of any program', () => {
    const ofAny = patternsOf('other').map(({ name }) => name)
    const crashes = ['assertion', 'abort', 'panic', 'fatal', 'memory_corrupted']
    const database = ['db_old_format', 'db_dirty', 'db_corrupt', 'db_not_opened', 'db_io_failed']
    expect(ofAny).toEqual([...crashes, ...database, 'disk_full'])
    expect(patternsOf('rpc').map(({ name }) => name)).toEqual(expect.arrayContaining([...ofAny, 'rpc_events_lost']))
    expect(patternsOf('cruft').map(({ name }) => name)).toEqual(['disk_full', 'cleanup_skipped', 'cleanup_completed'])
  })
})

describe('the pattern for journalctl', () => {
  test.each([
    '      0x5581b3e0c4d1',
    '   Attempting async signal unsafe human readable stacktrace (this may hang):',
    ...rows
      .filter(({ service, patterns }) => service === 'execution' && patterns.length === 0)
      .filter(({ line }) => line.startsWith('2026'))
      .map(({ line }) => line),
    '{"timestamp":"2026-05-02T08:00:01.2Z","level":"WARN","fields":{"message":"dropping statesync request, still syncing"},"target":"a"}',
  ])('%s', (line) => {
    expect(mayMatchPattern(line)).toBe(false)
  })

  test('lines without a logger prefix and frequent messages all match', () => {
    const pulse = ['committed block', 'local timeout', 'still syncing...'].map(
      (message) => `{"timestamp":"x","level":"INFO","fields":{"message":"${message}","round":"5"}}`,
    )
    const bare = ['blocks diverge: no parent', 'Cleanup began', '3 of 4 chunks are lost']
    expect([...pulse, ...bare].filter((line) => !mayMatchPattern(line))).toEqual([])
  })

  test('case matters: there are capitals in the expression', () => {
    expect(LOG_PATTERN).toMatch(/[A-Z]/)
  })
})

describe('the level that execution writes', () => {
  const level = (word: string): string | null =>
    classifyLine(patternsOf('execution'), `2026-05-02 08:00:01.204411902 [7] a.cpp:1 LOG_${word}\tx`).level

  test('is a warning, an error, or nothing to count', () => {
    expect(level('WARNING')).toBe('warning')
    expect(level('ERROR')).toBe('error')
    expect(level('CRITICAL')).toBe('error')
    expect(level('INFO')).toBeNull()
    expect(level('DEBUG')).toBeNull()
  })

  test('is printed by `chain-agent parse`, with the patterns of any log', () => {
    const at = '2026-05-02 08:00:01.204411902 [7] a.cpp:1'
    expect(parsePatternLine(`${at} LOG_WARNING\tSlow block commit detected - block 1: 2µs`)).toEqual({
      patterns: ['slow_commit'],
      level: 'warning',
    })
    expect(parsePatternLine('Cleanup completed successfully')?.patterns).toEqual(['cleanup_completed'])
    expect(parsePatternLine(`${at} LOG_INFO\tProcessing finalization`)).toBeNull()
  })
})
