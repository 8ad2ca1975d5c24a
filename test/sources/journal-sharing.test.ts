import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SourceError } from '../../src/core/errors.ts'
import { settle, type VirtualClock } from '../../src/core/virtual-clock.ts'
import { parseJournalEntry } from '../../src/parsers/journal.ts'
import type { Exec, Program } from '../../src/sources/exec.ts'
import type { FollowOptions, JournalStart } from '../../src/sources/journal.ts'
import { createSharedJournal } from '../../src/sources/journal-sharing.ts'
import { createInProcessExec } from '../../simulator/commands/demo/fleet/in-process.ts'
import type { Entry, Journal } from '../../simulator/journal/entry.ts'
import { createJournalctl } from '../../simulator/journal/journalctl.ts'
import { LIVELY } from '../../simulator/pace.ts'
import { manualClock } from '../support/manual-clock.ts'

const START = 1_000_000
const STEP = 100
const BOOT = 'b'.repeat(32)
const SEQUENCE = 'a'.repeat(32)

interface Written {
  /** Milliseconds since the start. */
  readonly at: number
  readonly unit: 'bft' | 'execution' | 'ledger' | 'init'
  /** The text of a line has one of these words. */
  readonly text: 'round' | 'ERROR' | 'block' | 'other'
}

const fieldsOf = ({ unit, text }: Written): Readonly<Record<string, string>> =>
  unit === 'init'
    ? { _PID: '1', UNIT: 'bft.service', MESSAGE_ID: 'started', MESSAGE: text }
    : { _PID: '7', _SYSTEMD_UNIT: `${unit}.service`, MESSAGE: text }

/** A journal with an entry for each of these, in this order, up to the present. */
const journalOf = (written: readonly Written[], clock: VirtualClock): Journal => {
  const entries = written.map((one, index): Entry => {
    const number = index + 1
    const micros = (START + one.at) * 1000 + index
    const cursor = `s=${SEQUENCE};i=${number.toString(16)};b=${BOOT};m=${micros.toString(16)};t=${micros.toString(16)};x=1`
    return { number, cursor, realtimeUs: micros, monotonicUs: micros, fields: fieldsOf(one) }
  })
  return {
    bootId: BOOT,
    access: () => 'open',
    oldest: () => [],
    read: (from) => entries.filter(({ number, realtimeUs }) => number >= from && realtimeUs <= clock.now() * 1000),
    seek: (cursor) => entries.find((entry) => entry.cursor === cursor)?.number,
  }
}

/** Each journalctl looks for new entries in the next of these intervals; `killAll` ends those that follow, with an error. */
const execOf = (journal: Journal, clock: VirtualClock, { paces, failsDuringCheck = false }: Play) => {
  const running = new Map<Program, AbortController>()
  let started = 0
  const once = createInProcessExec({ journalctl: createJournalctl(journal, clock) })
  const exec: Exec = {
    ...once,
    run: async (program, signal) => {
      const output = await once.run(program, signal)
      if (!failsDuringCheck || program.args.includes('+')) return output
      for (const [{ args }, killed] of running) if (args.includes('+')) killed.abort()
      for (let turn = 0; turn < 10; turn += 1) await settle()
      return output
    },
    async *stream(program, signal) {
      const killed = new AbortController()
      running.set(program, killed)
      const pace = { ...LIVELY, journalMs: paces[started % paces.length] ?? STEP }
      started += 1
      signal.addEventListener('abort', () => {
        killed.abort()
      })
      const parts = createInProcessExec({ journalctl: createJournalctl(journal, clock, pace) })
      try {
        yield* parts.stream({ ...program, answers: [0] }, killed.signal)
      } finally {
        running.delete(program)
      }
      throw new SourceError({ doing: 'run journalctl', happened: 'killed by SIGKILL' })
    },
    killAll: () => {
      for (const killed of running.values()) killed.abort()
    },
  }
  return { exec, running }
}

const FOLLOWERS: Readonly<Record<string, { readonly match: readonly string[]; selects(one: Written): boolean }>> = {
  consensus: {
    match: ['-u', 'bft.service', '--grep=^(?:round|ERROR)'],
    selects: ({ unit, text }) => (unit === 'bft' || unit === 'init') && (text === 'round' || text === 'ERROR'),
  },
  logs: {
    match: ['-u', 'bft.service', '-u', 'execution.service', '--grep=^ERROR'],
    selects: ({ unit, text }) => unit !== 'ledger' && text === 'ERROR',
  },
  ledger: { match: ['-u', 'ledger.service'], selects: ({ unit }) => unit === 'ledger' },
  lifecycle: { match: ['_PID=1', 'MESSAGE_ID=started', 'UNIT=bft.service'], selects: ({ unit }) => unit === 'init' },
}

interface Play {
  readonly written: readonly Written[]
  readonly paces: readonly number[]
  /** When all that follow are killed, in milliseconds since the start. */
  readonly killedAt?: number
  /** Whether each journalctl that is shared is killed while a follower reads the end of the journal. */
  readonly failsDuringCheck?: boolean
  readonly seconds: number
}

/** What each follower returns; one starts each 1.1 s, and resumes after an error as the collectors do. */
const play = async (options: Play) => {
  const { written, killedAt, seconds } = options
  const clock = manualClock(START)
  const { exec, running } = execOf(journalOf(written, clock), clock, options)
  const journal = createSharedJournal({ exec, parse: parseJournalEntry })
  const stop = new AbortController()
  const read = (match: readonly string[]) => {
    const numbers: number[] = []
    let start: JournalStart = { newest: 1000 }
    let gaps = 0
    const reading = (async () => {
      while (!stop.signal.aborted) {
        try {
          const following: FollowOptions = { match, start, interval: 5000, timeout: 10_000 }
          for await (const { entries, gap } of journal.follow(following, { clock, signal: stop.signal })) {
            gaps += Number(gap)
            for (const { cursor } of entries) numbers.push(Number.parseInt(/i=([0-9a-f]+)/.exec(cursor)?.[1] ?? '', 16))
            const last = entries.at(-1)
            if (last) start = { after: last.cursor }
          }
        } catch (error) {
          expect(String(error)).toContain('SIGKILL')
        }
      }
    })()
    return { numbers, gaps: () => gaps, reading }
  }
  const followers = new Map<string, ReturnType<typeof read>>()
  const waiting = Object.entries(FOLLOWERS)
  for (let at = 0; at < seconds * 1000; at += STEP) {
    const [next] = at % 1100 === 0 ? waiting.splice(0, 1) : []
    if (next) followers.set(next[0], read(next[1].match))
    if (at === killedAt) exec.killAll()
    await clock.advance(STEP)
  }
  const commands = [...running.keys()].map(({ args }) => args)
  stop.abort()
  await Promise.all([...followers.values()].map(({ reading }) => reading))
  await clock.advance(STEP)
  return { followers, commands, left: [...running.keys()].map(({ args }) => args.join(' ')) }
}

const expected = (written: readonly Written[], name: string): readonly number[] =>
  written.flatMap((one, index) => (FOLLOWERS[name]?.selects(one) === true ? [index + 1] : []))

const writtenIn = (seconds: number): fc.Arbitrary<readonly Written[]> =>
  fc
    .array(
      fc.record({
        at: fc.integer({ min: 0, max: seconds * 1000 - 5000 }),
        unit: fc.constantFrom<Written['unit'][]>('bft', 'execution', 'ledger', 'init'),
        text: fc.constantFrom<Written['text'][]>('round', 'ERROR', 'block', 'other'),
      }),
      { maxLength: 80 },
    )
    .map((all) => all.toSorted((one, other) => one.at - other.at))

test('each follower has each of its entries once and in order, however late each journalctl is, and if all are killed', async () => {
  await fc.assert(
    fc.asyncProperty(
      writtenIn(70),
      fc.array(fc.constantFrom(100, 400, 1700), { minLength: 1, maxLength: 7 }),
      fc.integer({ min: 0, max: 700 }),
      async (written, paces, tenths) => {
        const { followers, left } = await play({ written, paces, killedAt: tenths * STEP, seconds: 75 })
        for (const [name, { numbers, gaps }] of followers) {
          expect({ name, numbers, gaps: gaps() }).toEqual({ name, numbers: expected(written, name), gaps: 0 })
        }
        expect(left).toEqual([])
      },
    ),
    {
      seed: 64,
      numRuns: 60,
      // The shared journalctl, the fifth, returns an entry when the second follower has subscribed, or has changed over,
      // which its own one returned before.
      examples: [
        [[{ at: 5500, unit: 'bft', text: 'ERROR' }], [100, 100, 100, 100, 1700], 700],
        [[5500, 6400].map((at): Written => ({ at, unit: 'bft', text: 'ERROR' })), [100, 100, 100, 100, 1700], 700],
      ],
    },
  )
})

test('a follower keeps its own journalctl if the shared one fails while it reads the end of the journal', async () => {
  const written: readonly Written[] = [10, 61_000].map((at) => ({ at, unit: 'bft', text: 'round' }))
  const { followers } = await play({ written, paces: [100], failsDuringCheck: true, seconds: 65 })
  expect(followers.get('consensus')?.numbers).toEqual([1, 2])
})

test('two journalctl are left, for the followers with a pattern and for those without', async () => {
  // ledger never pauses, and the others have an entry each in the first second.
  const written: readonly Written[] = [
    { at: 10, unit: 'bft', text: 'round' },
    { at: 20, unit: 'execution', text: 'ERROR' },
    { at: 30, unit: 'init', text: 'other' },
    ...Array.from({ length: 100 }, (_, index): Written => ({ at: 300 * (index + 1), unit: 'ledger', text: 'block' })),
  ]
  const { followers, commands, left } = await play({ written, paces: [100], seconds: 30 })
  expect(commands).toHaveLength(2)
  const matchOf = (args: readonly string[] | undefined) =>
    args?.slice(args.findIndex((arg) => arg.startsWith('--output-fields=')) + 1)
  const [patterns, plain] = commands.toSorted((one) => (one.some((arg) => arg.startsWith('--grep=')) ? -1 : 1))
  const unit = (name: string) => [
    `_SYSTEMD_UNIT=${name}.service`,
    '+',
    '_PID=1',
    `UNIT=${name}.service`,
    '+',
    '_UID=0',
    `OBJECT_SYSTEMD_UNIT=${name}.service`,
  ]
  expect(matchOf(patterns)).toEqual([
    '--grep=(?:^(?:round|ERROR))|(?:^ERROR)',
    ...unit('bft'),
    '+',
    ...unit('execution'),
  ])
  expect(matchOf(plain)).toEqual([...unit('ledger'), '+', '_PID=1', 'MESSAGE_ID=started', 'UNIT=bft.service'])
  expect(followers.get('ledger')?.numbers).toHaveLength(99)
  expect(left).toEqual([])
})
