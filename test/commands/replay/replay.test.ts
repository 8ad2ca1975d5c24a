import { describe, expect, test } from 'vitest'
import { createLifecycleCounters } from '../../../src/collectors/lifecycle/restarts.ts'
import type { JournalEntry } from '../../../src/parsers/journal.ts'
import { createMatch } from '../../../src/commands/replay/match.ts'
import { createRunning } from '../../../src/commands/replay/running.ts'
import { isMissing } from '../../../src/commands/replay/silence.ts'
import { createTape } from '../../../src/commands/replay/tape.ts'
import { createVirtualClock } from '../../../src/commands/replay/virtual-clock.ts'
import { createTallies } from '../../../src/health/incidents/tallies.ts'

const AT = Date.UTC(2026, 2, 1)
const entry = (more: Partial<JournalEntry> = {}): JournalEntry => ({
  cursor: 's=1',
  at: AT,
  unit: 'chain-bft.service',
  message: 'hello',
  fields: {},
  ...more,
})

describe('a recorded entry is shown to whom journalctl would show it', () => {
  test.each([
    [['-u', 'chain-bft.service'], true],
    [['-u', 'chain-rpc.service'], false],
    [['-u', 'chain-rpc.service', '-u', 'chain-bft.service'], true],
    [['-u', 'chain-bft.service', '--grep=HELLO'], false],
    [['-u', 'chain-bft.service', '--grep=hel+o'], true],
    // A field twice is a choice, and another field one more demand.
    [['_PID=1', 'MESSAGE_ID=a', 'MESSAGE_ID=b'], true],
    [['_PID=1', 'MESSAGE_ID=a'], false],
    [['_PID=2', 'MESSAGE_ID=b'], false],
  ])('%j: %s', (match, expected) => {
    const fields = { _PID: '1', MESSAGE_ID: 'b' }
    expect(createMatch(match)(entry({ fields }))).toBe(expected)
  })

  test('and a pattern without capitals ignores case', () => {
    expect(createMatch(['--grep=hello'])(entry({ message: 'HELLO' }))).toBe(true)
    expect(createMatch(['--grep=Hello'])(entry({ message: 'HELLO' }))).toBe(false)
  })
})

describe('a silence', () => {
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
  const silence = (after: readonly JournalEntry[], more = {}) =>
    isMissing({ lasted: 240_000, after, block: 1000, boot: 'one', isDown: false, ...more })

  test('is a hole in the recording where the node comes back fresh, and far ahead', () => {
    expect(silence([block(1400, AT, AT - 400)])).toBe(true)
  })

  test('is the node’s where it comes back with old blocks, or with the next', () => {
    expect(silence([block(1400, AT, AT - 60_000)])).toBe(false)
    expect(silence([block(1001, AT, AT - 400)])).toBe(false)
  })

  test('is a hole where the first blocks are old, but far younger than the silence', () => {
    // ledger-tail begins with blocks of the last minute.
    expect(silence([block(1400, AT, AT - 36_000)], { lasted: 7_200_000 })).toBe(true)
    expect(silence([block(1400, AT, AT - 36_000)])).toBe(false)
  })

  test('is nobody’s where consensus was down, and the host’s where it was started anew', () => {
    expect(silence([], { isDown: true })).toBe(false)
    expect(silence([block(1001, AT, AT - 400)], { boot: 'another', isDown: true })).toBe(true)
  })

  test('of which nothing tells is a hole', () => {
    expect(silence([entry()])).toBe(true)
  })
})

describe('a tape', () => {
  const tapeOf = (times: readonly (readonly number[])[]) =>
    createTape(
      (async function* () {
        for (const batch of times) {
          await Promise.resolve()
          yield { entries: batch.map((at) => entry({ at })), unreadable: 1 }
        }
        return undefined
      })(),
    )
  const timesOf = (entries: readonly JournalEntry[]) => entries.map(({ at }) => at)

  test('gives what was written up to a moment, and what comes late with it', async () => {
    const tape = tapeOf([[1, 2], [], [5, 4, 9]])
    expect(await tape.next()).toBe(1)
    expect(timesOf(await tape.take(2))).toEqual([1, 2])
    expect(await tape.next()).toBe(5)
    expect(timesOf(await tape.peek())).toEqual([5, 4, 9])
    expect(timesOf(await tape.take(5))).toEqual([5, 4])
    expect(timesOf(await tape.take(100))).toEqual([9])
    expect([await tape.next(), tape.takeUnreadable(), tape.takeUnreadable()]).toEqual([null, 3, 0])
  })
})

describe('which services run', () => {
  const begin = () => {
    const clock = createVirtualClock(AT)
    const running = createRunning(clock)
    const tallies = createTallies()
    const { recorder } = tallies
    const lifecycle = running.wrap(createLifecycleCounters(recorder, ['bft', 'execution']))
    const at = (seconds: number) => {
      clock.set(AT + seconds * 1000)
    }
    return { running, lifecycle, tallies, at }
  }
  const told = (service: string, invocation: string) => ({ service, invocation, isOld: false })

  test('one that ended is down until it starts, or speaks again', () => {
    const { running, lifecycle, tallies, at } = begin()
    running.speaks('bft', 'a')
    expect([...running.down()]).toEqual([])
    at(10)
    lifecycle.exited({ ...told('bft', 'a'), result: 'core-dump' })
    expect([...running.down()]).toEqual([['bft', 'ended: core-dump']])
    lifecycle.started(told('bft', 'b'))
    // What is told late of the run before is no end of this one.
    lifecycle.exited({ ...told('bft', 'a'), result: 'core-dump' })
    expect([...running.down()]).toEqual([])
    running.rebooted()
    expect([...running.down().keys()]).toEqual(['bft'])
    running.speaks('bft', 'c')
    expect([...running.down()]).toEqual([])
    const counted = (['chain_service_exits_total', 'chain_service_starts_total'] as const).map(
      (name) => tallies.increase(name, Infinity),
    )
    expect(counted).toEqual([1, 1])
  })

  test('a restart of consensus alone is partial until execution has its own', () => {
    const { running, lifecycle, at } = begin()
    running.speaks('bft', 'a')
    running.speaks('execution', 'x')
    expect(running.isPartialRestart()).toBe(false)
    at(600)
    lifecycle.started(told('bft', 'b'))
    expect(running.isPartialRestart()).toBe(true)
    at(700)
    lifecycle.started(told('execution', 'y'))
    expect(running.isPartialRestart()).toBe(false)
  })
})
