import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Exec, Output, Program } from '../../src/sources/exec.ts'
import { createJournal, type FollowOptions, type JournalBatch, type JournalStart } from '../../src/sources/journal.ts'
import { ParseError, SourceError } from '../../src/core/errors.ts'
import { settle, type VirtualClock } from '../../src/core/virtual-clock.ts'
import { manualClock } from '../support/manual-clock.ts'

interface Entry {
  readonly cursor: string
  readonly at: number
}
const line = (at: number): string => `${JSON.stringify({ cursor: `s=${at}`, at })}\n`
const parse = (text: string): Entry => schema.parse(JSON.parse(text))
const schema = z.object({ cursor: z.string(), at: z.number() })

/** A journalctl whose newest entry is `end`, and whose follower returns `chunks` and then nothing. */
const journalOf = (end: (args: readonly string[]) => Partial<Output>, chunks: readonly string[] = []) => {
  const calls: Program[] = []
  const exec: Exec = {
    run: (program) => {
      calls.push(program)
      return Promise.resolve({ exitCode: 0, stdout: '', stderr: '', ...end(program.args) })
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
  return { journal: createJournal({ exec, parse }), exec, calls }
}

/** A journalctl whose follower returns what the test lets arrive. */
const waitingExec = (end: () => Partial<Output>) => {
  const waiting: string[] = []
  let wake = (): void => undefined
  const exec: Exec = {
    ...journalOf(end).exec,
    async *stream(_, signal) {
      signal.addEventListener('abort', () => wake())
      while (!signal.aborted) {
        const text = waiting.shift()
        if (text === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        } else yield Buffer.from(text)
      }
    },
  }
  const arrive = (text: string): void => {
    waiting.push(text)
    wake()
  }
  return { exec, arrive }
}

const follow = ({ journal }: Pick<ReturnType<typeof journalOf>, 'journal' | 'calls'>, start: JournalStart, now = 0) => {
  const clock = manualClock(now)
  const stop = new AbortController()
  const following = { match: ['-u', 'x'], start, interval: 1000, timeout: 500 }
  const batches = journal.follow(following, { clock, signal: stop.signal })
  const next = async (): Promise<JournalBatch<Entry>> => {
    const result = await batches.next()
    if (result.done === true) throw new Error('it has ended')
    return result.value
  }
  return { clock, batches, next, stop }
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
  const batches = [await next(), await next()]
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
  const world = journalOf(() => ({ stdout: line(9) }), [`${line(8)}invalid\n${line(9)}`])
  const { next } = follow(world, { after: 's=5' })
  expect(await next()).toMatchObject({ gap: true, unreadable: 1, entries: [{ at: 8 }, { at: 9 }] })
})

test('a line that cannot be parsed is counted; a bug of the parser is an error', async () => {
  const fail = (error: Error) => {
    const world = journalOf(() => ({ stdout: line(9) }), [line(8)])
    const journal = createJournal<Entry>({
      exec: world.exec,
      parse: (text) => {
        if (text === line(8).trim()) throw error
        return parse(text)
      },
    })
    return follow({ ...world, journal }, { after: 's=5' }).next()
  }
  expect(await fail(new ParseError('an entry', 'a cursor', ''))).toMatchObject({ unreadable: 1, entries: [] })
  await expect(fail(new TypeError('a bug'))).rejects.toThrow('a bug')
})

/** The heartbeats that a follower yields until it fails, over this number of intervals. */
const heartbeatsOf = async (
  world: ReturnType<typeof journalOf>,
  intervals: number,
  { now = 0, ...start }: JournalStart & { readonly now?: number },
) => {
  const { clock, batches, stop } = follow(world, start, now)
  let heartbeats = 0
  let error = ''
  const reading = (async () => {
    for await (const _ of batches) heartbeats += stop.signal.aborted ? 0 : 1
  })().catch((thrown: unknown) => {
    error = String(thrown)
  })
  await settle()
  for (let interval = 0; interval < intervals; interval += 1) await clock.advance(1000)
  stop.abort()
  await reading
  return { heartbeats, error }
}
const STALLED = 'the running journalctl does not return'
const UNUSABLE = 'none from this position on'

describe('a follower without entries', () => {
  const outcomeOf = async (
    end: (args: readonly string[]) => Partial<Output>,
    { start = { after: 's=5' }, chunks = [line(5)] }: { start?: JournalStart; chunks?: readonly string[] } = {},
  ) => (await heartbeatsOf(journalOf(end, chunks), 14, start)).error

  test('is quiet while the journal ends where it is', async () => {
    expect(await outcomeOf(() => ({ stdout: line(5) }))).toBe('')
  })
  test('is stalled when the journal has new entries, however new', async () => {
    let asked = 0
    expect(await outcomeOf(() => ({ stdout: (asked += 1) === 1 ? line(5) : line(5 + asked) }))).toContain(STALLED)
  })
  // With --grep, the newest that matches may lie far behind the newest few that it begins with.
  test('is quiet without a cursor, while the newest entry is unchanged', async () => {
    expect(await outcomeOf(() => ({ stdout: line(-900) }), { start: { newest: 1000 }, chunks: [] })).toBe('')
  })
  test('is stalled without a cursor, too, when the journal has new entries', async () => {
    let asked = 0
    const end = () => ({ stdout: (asked += 1) === 1 ? line(-900) : line(900) })
    expect(await outcomeOf(end, { start: { newest: 1000 }, chunks: [] })).toContain(STALLED)
  })
  test('is stalled when it does not return the entries after its cursor', async () => {
    expect(await outcomeOf(() => ({ stdout: line(6) }))).toContain(STALLED)
  })
  test('is not stalled by an entry that arrives after the check', async () => {
    const { exec, arrive } = waitingExec(() => ({ stdout: line(6) }))
    const { clock, batches, stop } = follow({ journal: createJournal({ exec, parse }), calls: [] }, { after: 's=5' })
    const read: number[] = []
    const reading = (async () => {
      for await (const batch of batches) read.push(...ats(batch))
    })()
    await settle()
    arrive(line(5))
    // The check is at the fourth heartbeat, and an entry must arrive before the sixth.
    for (let tick = 1; tick <= 5; tick += 1) await clock.advance(1000)
    arrive(line(6))
    for (let tick = 6; tick <= 14; tick += 1) await clock.advance(1000)
    stop.abort()
    await reading
    expect(read).toEqual([6])
  })
  test('is not stalled while its reader is busy', async () => {
    const { exec, arrive } = waitingExec(() => ({ stdout: line(6) }))
    const { clock, next, stop } = follow({ journal: createJournal({ exec, parse }), calls: [] }, { after: 's=5' })
    const first = next()
    await settle()
    arrive(line(5))
    await first
    arrive(line(6))
    for (let tick = 1; tick <= 60; tick += 1) await clock.advance(1000)
    // One heartbeat may have come before the entry.
    expect([...ats(await next()), ...ats(await next())]).toEqual([6])
    stop.abort()
  })
})

describe('a position is checked against what arrives', () => {
  const ahead = (args: readonly string[]): Partial<Output> =>
    args.includes('--cursor=s=ahead') ? { stdout: '' } : { stdout: line(7) }

  test('with no entry from it on, it is unusable; until then there is no heartbeat', async () => {
    const { heartbeats, error } = await heartbeatsOf(journalOf(ahead), 14, { after: 's=ahead' })
    expect(error).toContain(UNUSABLE)
    expect(heartbeats).toBe(0)
  })
  test('if the journal has its entry, journalctl is at fault, and is restarted there', async () => {
    const { heartbeats, error } = await heartbeatsOf(
      journalOf(() => ({ stdout: line(7) })),
      14,
      { after: 's=7' },
    )
    expect(error).toContain(STALLED)
    expect(heartbeats).toBe(0)
  })
  test('in a journal where nothing matches, it is kept', async () => {
    const { heartbeats, error } = await heartbeatsOf(
      journalOf(() => ({ stdout: '' })),
      14,
      { after: 's=7' },
    )
    expect([error, heartbeats]).toEqual(['', 15])
  })
  test('that journalctl rejects is unusable', async () => {
    const rejecting = journalOf(() => ({ stdout: line(7) }))
    const output = 'Failed to seek to cursor: Invalid argument'
    const exec: Exec = {
      ...rejecting.exec,
      async *stream() {
        await settle()
        yield Buffer.from('')
        throw new SourceError({ doing: 'run journalctl', happened: 'exit code 1' }, { output })
      },
    }
    const { batches } = follow({ journal: createJournal({ exec, parse }), calls: [] }, { after: 's=7' })
    await batches.next()
    await expect(batches.next()).rejects.toMatchObject({ code: 'journal position unusable' })
  })
})

describe('entries of another boot, later than now', () => {
  const NOW = 1_000_000
  const TEN_DAYS_AHEAD = 865_000_000
  const hidden = (args: readonly string[]): Partial<Output> => {
    const isAhead = args.includes(`--cursor=s=${TEN_DAYS_AHEAD}`)
    if (args.includes('--boot')) return { stdout: isAhead ? '' : line(NOW - 10) }
    return { stdout: line(TEN_DAYS_AHEAD) }
  }
  const followed = ({ calls }: ReturnType<typeof journalOf>) =>
    calls.find(({ args }) => args.includes('--follow'))?.args

  test('that hide the entries of a running follower stall it', async () => {
    let asked = 0
    // The unit has not logged in this boot when the follower starts.
    const end = (args: readonly string[]) => (args.includes('--boot') && (asked += 1) === 1 ? {} : hidden(args))
    const world = journalOf(end, [line(TEN_DAYS_AHEAD)])
    const { error } = await heartbeatsOf(world, 14, { after: `s=${TEN_DAYS_AHEAD}`, now: NOW })
    expect(error).toContain(STALLED)
  })
  test('before the unit has logged in this boot, all boots are followed', async () => {
    const world = journalOf((args) => (args.includes('--boot') ? { stdout: '' } : { stdout: line(TEN_DAYS_AHEAD) }))
    await heartbeatsOf(world, 1, { newest: 10, now: NOW })
    expect(followed(world)).toContain('--merge')
  })
})

const START = 1_000_000
const STEP = 500
const numberOf = (cursor: string): number => Number(cursor.slice('s='.length))

/** A journal that grows by this many entries a second. The first follower is silent from `silentAt` on, and stays. */
const growingJournal = (clock: VirtualClock, perSecond: number, silentAt: number): Exec => {
  const timeOf = (n: number): number => START + (n * 1000) / perSecond
  const newest = (): number => Math.floor(((clock.now() - START) * perSecond) / 1000)
  const numbered = (n: number): string => `${JSON.stringify({ cursor: `s=${n}`, at: Math.floor(timeOf(n)) })}\n`
  let followers = 0
  return {
    run: ({ args }) => {
      const cursor = args.find((arg) => arg.startsWith('--cursor='))
      const n = cursor === undefined ? newest() : numberOf(cursor.slice('--cursor='.length))
      return Promise.resolve({ exitCode: 0, stdout: n <= newest() ? numbered(n) : '', stderr: '' })
    },
    async *stream({ args }, signal) {
      followers += 1
      const isFirst = followers === 1
      const cursor = args.find((arg) => arg.startsWith('--cursor='))
      let next = cursor === undefined ? newest() : numberOf(cursor.slice('--cursor='.length))
      while (!signal.aborted) {
        const last = isFirst && clock.now() >= silentAt ? -1 : newest()
        let text = ''
        for (; next <= last; next += 1) text += numbered(next)
        if (text !== '') yield Buffer.from(text)
        await clock.sleep(STEP, signal)
      }
    },
    killAll: () => undefined,
  }
}

// With the intervals of the agent: a heartbeat every 5 s. The unit of 0.1 lines a second logs less often than that.
test.each([0.1, 3, 5000])(
  'a follower that goes silent on a unit with %s lines a second is restarted within 35 s where it stopped',
  async (perSecond) => {
    const clock = manualClock(START)
    const silentAt = START + 21_000
    const exec = growingJournal(clock, perSecond, silentAt)
    const stop = new AbortController()
    const read: number[] = []
    const failures: { readonly at: number; readonly message: string }[] = []
    let start: JournalStart = { newest: 1 }
    const journal = createJournal({ exec, parse })
    const timing = { interval: 5000, timeout: 10_000 }
    const reading = (async () => {
      while (!stop.signal.aborted) {
        try {
          const following: FollowOptions = { match: ['-u', 'x'], start, ...timing }
          for await (const { entries, gap } of journal.follow(following, { clock, signal: stop.signal })) {
            expect(gap).toBe(false)
            for (const { cursor } of entries) read.push(numberOf(cursor))
            const last = entries.at(-1)
            if (last) start = { after: last.cursor }
          }
        } catch (error) {
          failures.push({ at: clock.now(), message: String(error) })
        }
      }
    })()
    for (let at = 0; at < 80_000; at += STEP) await clock.advance(STEP)
    stop.abort()
    await reading

    expect(failures.map(({ message }) => message)).toEqual([expect.stringContaining('does not return')])
    const seconds = ((failures[0]?.at ?? Number.NaN) - silentAt) / 1000
    expect(seconds).toBeLessThanOrEqual(35)
    // Each entry once, up to those of the last step.
    const first = read[0] ?? Number.NaN
    expect(read.every((n, index) => n === first + index)).toBe(true)
    expect(read.at(-1)).toBeGreaterThanOrEqual(Math.floor(79 * perSecond))
  },
)
