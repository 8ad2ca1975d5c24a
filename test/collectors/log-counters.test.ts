import { describe, expect, test } from 'vitest'
import { createLogCounters } from '../../src/collectors/logs/counters.ts'
import type { JournalEntry } from '../../src/parsers/journal.ts'
import { T0 } from './consensus-log.ts'
import { recording } from './recording.ts'

const SERVICES = ['bft', 'execution', 'cruft']
const PANIC = "thread 'main' panicked at zephyr-consensus-state/src/lib.rs:412:17:"
const TOO_FAR = 'high qc too far ahead of block tree root, restart client. highqc: QC { .. }'
const NOTE = 'note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace'
const ASSERTION = "zephyr: a.cpp:216: void zephyr::run(): Assertion 'parent' failed."
const LOGGED = (level: string, text: string): string =>
  `2026-05-02 08:00:01.204411902 [7] a.cpp:1 LOG_${level}\t${text}`
const NEWS = JSON.stringify({ timestamp: 'x', fields: { message: 'committed block' } })

/** Entries of a process of each service, one after the other; `at` in seconds. */
const entryOf = (message: string, at = 0, fields: Readonly<Record<string, string>> = {}): JournalEntry => ({
  cursor: 's=1',
  at: T0 + at * 1000,
  unit: null,
  message,
  fields: { _PID: '7', _STREAM_ID: 'a1', ...fields },
})

const start = () => {
  const { recorder, total, totals } = recording()
  const counters = createLogCounters(recorder, SERVICES)
  const pattern = (service: string, name: string): number | undefined =>
    total(`chain_log_pattern_total{service=${service},pattern=${name}}`)
  const on = (service: string, ...entries: readonly JournalEntry[]): void => {
    for (const entry of entries) counters.on(service, entry, false)
  }
  /** `at`: seconds since the start; `offset`: what the clock of the host shows in addition, in seconds. */
  const trouble = (at = 0, offset = 0) =>
    counters.trouble({ now: () => T0 + (at + offset) * 1000, elapsed: () => at * 1000 })
  return { counters, on, pattern, trouble, total, totals }
}

describe('counts', () => {
  test('every pattern of a service starts with 0, and nothing of consensus is counted twice', () => {
    const { counters, totals } = start()
    for (const service of SERVICES) counters.initialize(service)
    const all = Object.entries(totals())
    expect(all.filter(([, value]) => value !== 0)).toEqual([])
    const names = all.map(([name]) => name)
    expect(names).toContain('chain_log_pattern_total{service=bft,pattern=wal_stopped}')
    expect(names).toContain('chain_log_pattern_total{service=execution,pattern=assertion}')
    expect(names.filter((name) => name.includes('service=cruft'))).toEqual([
      'chain_log_pattern_total{service=cruft,pattern=disk_full}',
      'chain_log_pattern_total{service=cruft,pattern=cleanup_skipped}',
      'chain_log_pattern_total{service=cruft,pattern=cleanup_completed}',
      'chain_log_lines_total{service=cruft,level=warning}',
      'chain_log_lines_total{service=cruft,level=error}',
      'chain_log_suppressed_messages_total{service=cruft}',
    ])
    // These belong to the consensus collector.
    expect(names.filter((name) => /lines|suppressed/.test(name) && name.includes('bft'))).toEqual([])
  })

  test('patterns, levels of execution, and messages dropped by journald', () => {
    const { on, pattern, total } = start()
    on('execution', entryOf(LOGGED('WARNING', 'Slow block commit detected - block 1: 9µs')))
    on('execution', entryOf(LOGGED('ERROR', 'cannot do it')))
    on('execution', entryOf(LOGGED('INFO', 'Run to block= 5')))
    const dropped = { _PID: '9', OBJECT_SYSTEMD_UNIT: 'x', N_DROPPED: '41' }
    on('execution', entryOf('Suppressed 41 messages from x', 0, dropped))
    on('bft', entryOf('Suppressed 41 messages from x', 0, dropped))
    expect(pattern('execution', 'slow_commit')).toBe(1)
    expect(total('chain_log_lines_total{service=execution,level=warning}')).toBe(1)
    expect(total('chain_log_lines_total{service=execution,level=error}')).toBe(1)
    expect(total('chain_log_suppressed_messages_total{service=execution}')).toBe(41)
    expect(total('chain_log_suppressed_messages_total{service=bft}')).toBeUndefined()
  })

  test('entries of systemd about the unit are ignored', () => {
    const { on, pattern } = start()
    on('execution', entryOf(ASSERTION, 0, { _PID: '1' }))
    expect(pattern('execution', 'assertion')).toBeUndefined()
  })

  test('entries from before the agent are part of the state and are not counted', () => {
    const { counters, pattern, trouble } = start()
    counters.on('execution', entryOf(ASSERTION), true)
    expect(pattern('execution', 'assertion')).toBe(0)
    expect(trouble()['execution']).toEqual([`assertion: ${ASSERTION}`])
  })
})

describe('the reason in the next line', () => {
  test('lines of other programs, and complete log lines in between, are not the reason', () => {
    const { on, trouble } = start()
    const other = { _STREAM_ID: 'b2' }
    on('bft', entryOf(PANIC))
    on('execution', entryOf(ASSERTION, 0, other))
    on('bft', entryOf(NEWS))
    on('cruft', entryOf('Cleanup began', 0, { _STREAM_ID: 'c3' }))
    on('bft', entryOf('index out of bounds'))
    on('execution', entryOf('blocks diverge', 0, other))
    expect(trouble()).toEqual({
      bft: ['panic: index out of bounds'],
      execution: ['assertion: blocks diverge'],
      cruft: [],
    })
  })

  test('a later line is not the reason, nor is the note of Rust', () => {
    const { on, trouble } = start()
    on('bft', entryOf(PANIC), entryOf('unrelated', 11))
    expect(trouble(11)['bft']).toEqual([`panic: ${PANIC}`])
    on('bft', entryOf(PANIC, 12), entryOf(NOTE, 12), entryOf('unrelated', 12))
    expect(trouble(12)['bft']).toEqual([`panic: ${PANIC}`])
  })

  test('for ten minutes, also after the clock of the host was set', () => {
    const { on, trouble } = start()
    on('execution', entryOf(ASSERTION))
    expect(trouble(60)['execution']).toHaveLength(1)
    expect(trouble(120, 3600)['execution']).toHaveLength(1)
    expect(trouble(600, -3600)['execution']).toHaveLength(1)
    expect(trouble(601, -3600)['execution']).toEqual([])
  })

  test('after a restart of the agent between the two lines', () => {
    const before = start()
    before.on('bft', entryOf(PANIC))
    const after = start()
    after.counters.restore(JSON.parse(JSON.stringify(before.counters.snapshot())))
    expect(after.trouble()['bft']).toEqual([`panic: ${PANIC}`])
    after.on('bft', entryOf(TOO_FAR))
    expect([after.pattern('bft', 'panic'), after.pattern('bft', 'high_qc_too_far')]).toEqual([0, 1])
    expect(after.trouble()['bft']).toContain(`panic: ${TOO_FAR}`)
  })

  test('an invalid snapshot changes nothing', () => {
    const { counters, trouble } = start()
    for (const snapshot of [null, 7, { waiting: 'x' }, { waiting: [], seen: { bft: 3 } }]) counters.restore(snapshot)
    expect(trouble()).toEqual({ bft: [], execution: [], cruft: [] })
  })
})

describe('the state of a log', () => {
  test('ends after ten minutes, and has no values for warnings', () => {
    const { on, trouble } = start()
    on('execution', entryOf(LOGGED('WARNING', 'Slow block commit detected - block 1: 9µs')))
    on('execution', entryOf(LOGGED('WARNING', 'Slow block commit detected - block 2: 8µs'), 60))
    expect(trouble(660)['execution']).toEqual(['slow_commit'])
    expect(trouble(661)['execution']).toEqual([])
  })

  test('keeps the first text while the failure continues', () => {
    const { on, trouble } = start()
    on('execution', entryOf(LOGGED('ERROR', 'block 1 failed with: a'), 0))
    on('execution', entryOf(LOGGED('ERROR', 'block 2 failed with: b'), 300))
    expect(trouble(300)['execution']).toEqual(['block_failed: block 1 failed with: a'])
    on('execution', entryOf(LOGGED('ERROR', 'block 3 failed with: c'), 1000))
    expect(trouble(1000)['execution']).toEqual(['block_failed: block 3 failed with: c'])
  })

  test('contains no secrets and no home directory', () => {
    const { on, trouble } = start()
    const key = 'f0'.repeat(32)
    on('bft', entryOf(PANIC), entryOf(`bad key ${key} in /home/zephyr/keys, password=hunter2`))
    expect(trouble()['bft']).toEqual(['panic: bad key (hex digits) in ~/keys, password=(redacted)'])
  })

  test('does not contain patterns of severity info', () => {
    const { on, pattern, trouble } = start()
    on('cruft', entryOf('Cleanup completed successfully'))
    expect(pattern('cruft', 'cleanup_completed')).toBe(1)
    expect(trouble()['cruft']).toEqual([])
  })
})
