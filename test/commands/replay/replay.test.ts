import { describe, expect, test } from 'vitest'
import { createLifecycleCounters } from '../../../src/collectors/lifecycle/restarts.ts'
import type { JournalEntry } from '../../../src/parsers/journal.ts'
import { createJournalMatch, createBufferedEntries, type TakenEntries } from '../../../src/commands/replay/past-source.ts'
import { createServiceRuns } from '../../../src/commands/replay/collectors.ts'
import { isRecordingMissing } from '../../../src/commands/replay/replay.ts'
import { createVirtualClock } from '../../../src/core/virtual-clock.ts'
import type { Recorder } from '../../../src/core/metric.ts'

const AT = Date.UTC(2026, 2, 1)
const entry = (more: Partial<JournalEntry> = {}): JournalEntry => ({
  cursor: 's=1',
  at: AT,
  unit: 'chain-bft.service',
  message: 'hello',
  fields: {},
  ...more,
})

describe('a recorded entry matches the same arguments as in journalctl', () => {
  test.each([
    [['-u', 'chain-bft.service'], true],
    [['-u', 'chain-rpc.service'], false],
    [['-u', 'chain-rpc.service', '-u', 'chain-bft.service'], true],
    [['-u', 'chain-bft.service', '--grep=HELLO'], false],
    [['-u', 'chain-bft.service', '--grep=hel+o'], true],
    // Repeated fields are alternatives; different fields must all match.
    [['_PID=1', 'MESSAGE_ID=a', 'MESSAGE_ID=b'], true],
    [['_PID=1', 'MESSAGE_ID=a'], false],
    [['_PID=2', 'MESSAGE_ID=b'], false],
  ])('%j: %s', (match, expected) => {
    const fields = { _PID: '1', MESSAGE_ID: 'b' }
    expect(createJournalMatch(match)(entry({ fields }))).toBe(expected)
  })

  test('a pattern without capitals ignores case', () => {
    expect(createJournalMatch(['--grep=hello'])(entry({ message: 'HELLO' }))).toBe(true)
    expect(createJournalMatch(['--grep=Hello'])(entry({ message: 'HELLO' }))).toBe(false)
  })
})

describe('a gap', () => {
  const block = (number: number, writtenAt: number, blockAt: number): JournalEntry =>
    entry({
      unit: 'chain-ledger-tail.service',
      message: JSON.stringify({
        timestamp: new Date(writtenAt).toISOString(),
        level: 'INFO',
        fields: {
          message: 'proposed_block',
          round: `${number + 5}`,
          parent_round: `${number + 4}`,
          epoch: '1951',
          seq_num: `${number}`,
          num_tx: '27',
          author: `02${'ab'.repeat(32)}`,
          block_ts_ms: `${blockAt}`,
          now_ts_ms: `${writtenAt}`,
          author_address: '198.51.100.11:8000',
        },
        target: 'ledger_tail',
      }),
      fields: { _BOOT_ID: 'one' },
    })
  const isGap = (after: readonly JournalEntry[], more = {}) =>
    isRecordingMissing({ lasted: 240_000, after, block: 1000, boot: 'one', isDown: false, ...more })

  test('is missing entries if the node resumes with a recent block far ahead', () => {
    expect(isGap([block(1400, AT, AT - 400)])).toBe(true)
  })

  test('is a stalled node if it resumes with old blocks or with the next one', () => {
    expect(isGap([block(1400, AT, AT - 60_000)])).toBe(false)
    expect(isGap([block(1001, AT, AT - 400)])).toBe(false)
  })

  test('is missing entries if the first blocks are old, but far younger than the gap', () => {
    // ledger-tail begins with blocks of the last minute.
    expect(isGap([block(1400, AT, AT - 36_000)], { lasted: 7_200_000 })).toBe(true)
    expect(isGap([block(1400, AT, AT - 36_000)])).toBe(false)
  })

  test('is not missing entries if consensus was down, unless the host was rebooted', () => {
    expect(isGap([], { isDown: true })).toBe(false)
    expect(isGap([block(1001, AT, AT - 400)], { boot: 'another', isDown: true })).toBe(true)
  })

  test('is missing entries if no block follows', () => {
    expect(isGap([entry()])).toBe(true)
  })
})

describe('buffered entries', () => {
  const bufferOf = (times: readonly (readonly number[])[]) =>
    createBufferedEntries([
      (async function* () {
        for (const batch of times) {
          await Promise.resolve()
          yield { entries: batch.map((at) => entry({ at })), unreadable: 1 }
        }
        return undefined
      })(),
    ])
  const timesOf = ({ entries }: TakenEntries) => entries.flat().map(({ at }) => at)

  test('returns the entries up to a time, including late ones', async () => {
    const buffer = bufferOf([[1, 2], [], [5, 4, 9]])
    expect(await buffer.next()).toBe(1)
    expect(timesOf(await buffer.take(2))).toEqual([1, 2])
    expect(await buffer.next()).toBe(5)
    expect((await buffer.peek()).map(({ at }) => at)).toEqual([5, 4, 9])
    expect(timesOf(await buffer.take(5))).toEqual([5, 4])
    expect(timesOf(await buffer.take(100))).toEqual([9])
    expect([await buffer.next(), buffer.takeUnreadable(), buffer.takeUnreadable()]).toEqual([null, [3], [0]])
  })
})

describe('service runs', () => {
  const begin = () => {
    const clock = createVirtualClock(AT)
    const runs = createServiceRuns(clock)
    let counted = 0
    const recorder: Recorder = {
      count: (_name, by, ..._labels) => {
        counted += Number(by)
      },
      countByName: () => undefined,
      observe: () => undefined,
    }
    const lifecycle = runs.wrap(createLifecycleCounters(recorder, ['bft', 'execution']))
    const at = (seconds: number) => {
      clock.set(AT + seconds * 1000)
    }
    const down = () => [...runs.active()].flatMap(([service, isActive]) => (isActive ? [] : [service]))
    return { runs, lifecycle, counted: () => counted, at, down }
  }
  const eventOf = (service: string, invocation: string) => ({ service, invocation, isOld: false })

  test('a service that ended is down until it starts or logs again', () => {
    const { runs, lifecycle, counted, at, down } = begin()
    runs.noteEntry('bft', 'a')
    expect(down()).toEqual([])
    at(10)
    lifecycle.exited({ ...eventOf('bft', 'a'), result: 'core-dump' })
    expect(down()).toEqual(['bft'])
    lifecycle.started(eventOf('bft', 'b'))
    // A late entry about the previous run does not end this one.
    lifecycle.exited({ ...eventOf('bft', 'a'), result: 'core-dump' })
    expect(down()).toEqual([])
    runs.noteReboot()
    expect(down()).toEqual(['bft'])
    runs.noteEntry('bft', 'c')
    expect(down()).toEqual([])
    // One start and one exit.
    expect(counted()).toBe(2)
  })

  test('a restart of consensus alone is partial until execution has its own', () => {
    const { runs, lifecycle, at } = begin()
    runs.noteEntry('bft', 'a')
    expect(runs.isPartialRestart()).toBeNull()
    runs.noteEntry('execution', 'x')
    expect(runs.isPartialRestart()).toBe(false)
    at(600)
    lifecycle.started(eventOf('bft', 'b'))
    expect(runs.isPartialRestart()).toBe(true)
    at(700)
    lifecycle.started(eventOf('execution', 'y'))
    expect(runs.isPartialRestart()).toBe(false)
  })
})
