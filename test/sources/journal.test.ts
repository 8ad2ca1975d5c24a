import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Exec, Output, Program } from '../../src/sources/exec.ts'
import { createJournal, type JournalBatch, type JournalStart } from '../../src/sources/journal.ts'
import { manualClock } from '../support/manual-clock.ts'

interface Entry {
  readonly cursor: string
  readonly at: number
}
const line = (at: number): string => `${JSON.stringify({ cursor: `s=${at}`, at })}\n`
const parse = (text: string): Entry => schema.parse(JSON.parse(text))
const schema = z.object({ cursor: z.string(), at: z.number() })

/** A journalctl whose newest entry is told by `end`, and whose follower says `chunks` and then nothing. */
const journalOf = (end: () => Partial<Output>, chunks: readonly string[] = []) => {
  const calls: Program[] = []
  const exec: Exec = {
    run: (program) => {
      calls.push(program)
      return Promise.resolve({ exitCode: 0, stdout: '', stderr: '', ...end() })
    },
    async *stream(program, signal) {
      calls.push(program)
      for (const chunk of chunks) yield Buffer.from(chunk)
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve)
      })
      yield Buffer.from('')
    },
    killAll: () => undefined,
  }
  return { journal: createJournal({ exec, parse }), calls }
}

const follow = ({ journal }: ReturnType<typeof journalOf>, start: JournalStart, now = 0) => {
  const clock = manualClock(now)
  const stop = new AbortController()
  const following = { match: ['-u', 'x'], start, interval: 1000, timeout: 500 }
  const batches = journal.follow(following, { clock, signal: stop.signal })
  const next = async (): Promise<JournalBatch<Entry>> => {
    const result = await batches.next()
    if (result.done === true) throw new Error('it has ended')
    return result.value
  }
  return { clock, next, stop }
}
const ats = ({ entries }: JournalBatch<Entry>): readonly number[] => entries.map(({ at }) => at)

describe('reads the end of the journal before it follows', () => {
  test.each([
    [
      'may not read',
      { exitCode: 1, stderr: 'No journal files were opened due to insufficient permissions.' },
      'systemd-journal',
    ],
    [
      'sees only its own',
      { stderr: 'Hint: You are currently not seeing messages from other users.' },
      'systemd-journal',
    ],
    ['no files', { stderr: 'No journal files were found.' }, 'Storage='],
    ['something else', { exitCode: 1, stderr: 'Input/output error' }, 'journalctl failed'],
  ])('%s', async (_, end, expected) => {
    await expect(
      follow(
        journalOf(() => end),
        { newest: 1 },
      ).next(),
    ).rejects.toThrow(expected)
  })
  test('nothing that matches is silence, and no failure', async () => {
    const { next } = follow(
      journalOf(() => ({ exitCode: 1 })),
      { newest: 1 },
    )
    expect(ats(await next())).toEqual([])
  })
})

test('the entry that is known is left out, however the bytes are cut', async () => {
  const text = line(5) + line(6) + line(7)
  const world = journalOf(() => ({ stdout: line(7) }), [text.slice(0, 30), text.slice(30)])
  const { next } = follow(world, { after: 's=5' })
  const batches = [await next(), await next(), await next()]
  expect(batches.flatMap(ats)).toEqual([6, 7])
  expect(batches.some(({ gap }) => gap)).toBe(false)
  expect(world.calls[1]?.args).toEqual(expect.arrayContaining(['--merge', '--cursor=s=5']))
})

describe('without a cursor it starts', () => {
  const startOf = async (end: string) => {
    const world = journalOf(() => ({ stdout: end }), [line(120_000)])
    const { next } = follow(world, { newest: 1000 }, 90_000)
    await next()
    expect(ats(await next())).toEqual([120_000])
    return world.calls[1]?.args.filter((arg) => arg === '-n' || /^(?:--since=.*|--cursor=.*|all|\d+)$/.test(arg))
  }
  test('with the newest entries', async () => {
    expect(await startOf(line(5))).toEqual(['-n', '1000'])
  })
  // journalctl 252 skips the first entries that match if it starts with the newest of none.
  test('from a minute before its start, while nothing matches', async () => {
    expect(await startOf('')).toEqual(['-n', 'all', '--since=@30.000000'])
  })
})

test('another entry in its place is a gap; what is no entry is counted', async () => {
  const world = journalOf(() => ({ stdout: line(9) }), [`${line(8)}nonsense\n${line(9)}`])
  const { next } = follow(world, { after: 's=5' })
  await next()
  expect(await next()).toMatchObject({ gap: true, unreadable: 1, entries: [{ at: 8 }, { at: 9 }] })
})

describe('a follower without entries', () => {
  const ticks = async (
    world: ReturnType<typeof journalOf>,
    count: number,
    start: JournalStart = { after: 's=5' },
  ): Promise<unknown> => {
    const { clock, next } = follow(world, start)
    await next()
    const failing = (async () => {
      for (let tick = 0; tick < count; tick += 1) await next()
    })()
    const outcome = failing.then(
      () => 'quiet',
      (error: unknown) => error,
    )
    for (let tick = 0; tick < count; tick += 1) await clock.advance(1000)
    return outcome
  }
  test('is quiet while the journal ends where it is', async () => {
    expect(
      await ticks(
        journalOf(() => ({ stdout: line(5) })),
        8,
      ),
    ).toBe('quiet')
  })
  test('is stalled when the journal has new entries', async () => {
    let asked = 0
    const end = () => ({ stdout: (asked += 1) === 1 ? line(5) : line(900) })
    expect(String(await ticks(journalOf(end), 8))).toContain('the follower does not return')
  })
  // With --grep, the newest that matches may lie far behind the newest few that it begins with.
  test('is quiet without a cursor, while the newest entry is unchanged', async () => {
    const world = journalOf(() => ({ stdout: line(-900) }))
    expect(await ticks(world, 14, { newest: 1000 })).toBe('quiet')
  })
  test('is stalled without a cursor, too, when the journal has new entries', async () => {
    let asked = 0
    const end = () => ({ stdout: (asked += 1) === 1 ? line(-900) : line(900) })
    const outcome = await ticks(journalOf(end), 8, { newest: 1000 })
    expect(String(outcome)).toContain('the follower does not return')
  })
  test('is stalled when it does not return the entries after its cursor', async () => {
    const outcome = await ticks(
      journalOf(() => ({ stdout: line(-4) })),
      8,
    )
    expect(String(outcome)).toContain('the follower does not return')
  })
})
