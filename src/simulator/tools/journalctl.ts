import type { Clock } from '../../core/clock.ts'
import { type Arguments, type Grammar, readArguments } from './arguments.ts'
import { createFilter, createGrep, createSince, createUntil } from '../journal/journal-filter.ts'
import type { Entry, Journal } from '../journal/journal.ts'
import { renderEntry } from '../journal/journal-output.ts'
import { LIVELY, type Pace } from '../pace.ts'
import type { Frame, Tool } from './tools.ts'

/** As version 252 words it. */
const NOT_PERMITTED = `Hint: You are currently not seeing messages from other users and the system.
      Users in groups 'adm', 'systemd-journal' can see all messages.
      Pass -q to turn off this notice.
No journal files were opened due to insufficient permissions.
`

/** The stand-in for journalctl: what is needed to follow units from a place, without loss. */
export const createJournalctl = (
  journal: Journal,
  clock: Clock,
  { journalMs }: Pace = LIVELY,
): Tool =>
  async function* (argv, signal) {
    const request = readRequest(journal, argv, clock.now())
    if (typeof request === 'string') {
      yield { stderr: `${request}\n` }
      yield { exit: 1 }
      return
    }
    if (journal.access() === 'forbidden') {
      yield { stderr: NOT_PERMITTED }
      yield { exit: 1 }
      return
    }
    while (journal.access() === 'frozen' && !signal.aborted) await clock.sleep(journalMs, signal)
    const { from, reachesBack, first, follow, show, render } = request
    const there = journal.read(from)
    let next = (there.at(-1)?.number ?? from - 1) + 1
    yield* print(first([...(reachesBack ? journal.oldest() : []), ...there]), render)
    while (follow && !signal.aborted) {
      await clock.sleep(journalMs, signal)
      // A follower that is there stays, and hears nothing.
      if (signal.aborted || journal.access() !== 'open') continue
      const more = journal.read(next)
      next = (more.at(-1)?.number ?? next - 1) + 1
      yield* print(more.filter(show), render)
    }
    yield { exit: 0 }
  }

interface Request {
  /** The number of the first entry to look at. */
  readonly from: number
  /** Whether it asks for all there is: the newest few never reach back over the days that are not held. */
  readonly reachesBack: boolean
  /** What is printed of those that are there already. */
  readonly first: (entries: readonly Entry[]) => readonly Entry[]
  readonly follow: boolean
  readonly show: (entry: Entry) => boolean
  readonly render: (entry: Entry) => string
}

const readRequest = (
  journal: Journal,
  argv: readonly string[],
  nowMs: number,
): Request | string => {
  const read = readArguments(GRAMMAR, argv)
  if (typeof read === 'string') return `journalctl: ${read}`
  const { options, operands } = read
  const last = (name: string): string | undefined => options.get(name)?.at(-1)
  const asked = createFilter({ units: options.get('unit') ?? [], matches: operands })
  if (typeof asked === 'string') return asked
  const since = createSince(last('since'), nowMs)
  if (typeof since === 'string') return since
  const until = createUntil(last('until'), nowMs)
  if (typeof until === 'string') return until
  const match = (entry: Entry): boolean => since(entry) && until(entry) && asked(entry)
  const grep = createGrep({ grep: last('grep'), caseSensitive: last('case-sensitive') })
  if (typeof grep === 'string') return grep
  const fields = last('output-fields')?.split(',')
  const render = renderEntry(last('output') ?? 'short', fields, journal.bootId)
  if (!render) return `Unknown output format '${last('output')}'.`
  const cursor = last('cursor') ?? last('after-cursor')
  const found = cursor === undefined ? 0 : journal.seek(cursor)
  if (found === undefined) return 'Failed to seek to cursor: Invalid argument'
  const from = last('cursor') === undefined && cursor !== undefined ? found + 1 : found
  const count = readCount(options)
  if (count === undefined) return `Failed to parse lines '${last('lines')}'`
  const follow = options.has('follow')
  const isReverse = options.has('reverse')
  const inOrder = (entries: readonly Entry[]): readonly Entry[] =>
    isReverse ? entries.toReversed() : entries
  const newest = (entries: readonly Entry[], number: number): readonly Entry[] =>
    entries.slice(entries.length - Math.min(number, entries.length))
  return {
    from,
    reachesBack: cursor === undefined && count === 'all',
    first: (entries) => {
      if (count === 'all') return inOrder(entries.filter(match).filter(grep))
      const there = entries.filter(asked)
      if (cursor !== undefined) return there.filter(match).filter(grep).slice(0, count)
      // The manual: with --lines=, --grep= implies --reverse. While following, the last lines are
      // counted before the pattern sees them.
      if (follow) return newest(there.filter(match), count).filter(grep)
      if (isReverse || options.has('grep')) {
        return newest(there.filter(match).filter(grep), count).toReversed()
      }
      // As version 252 counts without --reverse: from --since on, or else from the end, whatever --until says.
      if (options.has('since')) return there.filter(match).slice(0, count)
      return newest(there, count).filter(match)
    },
    follow,
    show: (entry) => match(entry) && grep(entry),
    render,
  }
}

/** How many of the entries that are there: ten while following, all otherwise. */
const readCount = (options: Arguments['options']): number | 'all' | undefined => {
  const text = options.get('lines')?.at(-1) ?? (options.has('follow') ? '' : 'all')
  if (text === '' || text === 'all') return text === '' ? 10 : 'all'
  return /^\d+$/.test(text) ? Number(text) : undefined
}

function* print(entries: readonly Entry[], render: (entry: Entry) => string): Generator<Frame> {
  for (let start = 0; start < entries.length; start += 500) {
    yield {
      stdout: entries
        .slice(start, start + 500)
        .map((entry) => `${render(entry)}\n`)
        .join(''),
    }
  }
}

const flag = (name: string) => ({ name, value: 'none' }) as const
const valued = (name: string) => ({ name, value: 'needed' }) as const

const GRAMMAR: Grammar = {
  f: flag('follow'),
  follow: flag('follow'),
  m: flag('merge'),
  merge: flag('merge'),
  a: flag('all'),
  all: flag('all'),
  q: flag('quiet'),
  quiet: flag('quiet'),
  e: flag('pager-end'),
  'pager-end': flag('pager-end'),
  'no-pager': flag('no-pager'),
  'no-tail': flag('no-tail'),
  o: valued('output'),
  output: valued('output'),
  'output-fields': valued('output-fields'),
  n: { name: 'lines', value: 'optional' },
  lines: { name: 'lines', value: 'optional' },
  u: valued('unit'),
  unit: valued('unit'),
  S: valued('since'),
  since: valued('since'),
  r: flag('reverse'),
  reverse: flag('reverse'),
  U: valued('until'),
  until: valued('until'),
  g: valued('grep'),
  grep: valued('grep'),
  'case-sensitive': { name: 'case-sensitive', value: 'optional' },
  cursor: valued('cursor'),
  'after-cursor': valued('after-cursor'),
}
