import type { Clock } from '../../src/core/clock.ts'
import { LIVELY, type Pace } from '../pace.ts'
import { createGrammar, type Frame, parseArguments, type ParsedArguments, type Tool } from '../tools/tools.ts'
import type { Entry, Journal } from './entry.ts'
import { parseTimeSpan } from '../../src/core/units.ts'

/** The text of version 252. */
const NOT_PERMITTED = `Hint: You are currently not seeing messages from other users and the system.
      Users in groups 'adm', 'systemd-journal' can see all messages.
      Pass -q to turn off this notice.
No journal files were opened due to insufficient permissions.
`

/** The simulated journalctl: what is needed to follow units from a cursor without loss. */
export const createJournalctl = (journal: Journal, clock: Clock, { journalMs }: Pace = LIVELY): Tool =>
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
    const existing = journal.read(from)
    let next = (existing.at(-1)?.number ?? from - 1) + 1
    yield* print(first([...(reachesBack ? journal.oldest() : []), ...existing]), render)
    while (follow && !signal.aborted) {
      await clock.sleep(journalMs, signal)
      // A running follower stays and receives nothing.
      if (signal.aborted || journal.access() !== 'open') continue
      const more = journal.read(next)
      next = (more.at(-1)?.number ?? next - 1) + 1
      yield* print(more.filter(show), render)
    }
    yield { exit: 0 }
  }

const readRequest = (journal: Journal, argv: readonly string[], nowMs: number) => {
  const read = parseArguments(GRAMMAR, argv)
  if (typeof read === 'string') return `journalctl: ${read}`
  const { options, operands } = read
  const last = (name: string): string | undefined => options.get(name)?.at(-1)
  const selected = createFilter(options.get('unit') ?? [], operands)
  if (typeof selected === 'string') return selected
  const since = readTimeUs(last('since'), nowMs)
  if (typeof since === 'string') return since
  const until = readTimeUs(last('until'), nowMs)
  if (typeof until === 'string') return until
  const match: Filter = (entry) =>
    entry.realtimeUs >= (since ?? 0) && entry.realtimeUs <= (until ?? Infinity) && selected(entry)
  const grep = createGrep(last('grep'))
  if (typeof grep === 'string') return grep
  const fields = last('output-fields')?.split(',')
  const render = renderEntry(last('output') ?? 'short', fields, journal.bootId)
  if (!render) return `Unknown output format '${last('output')}'.`
  const cursor = last('cursor')
  const from = cursor === undefined ? 0 : journal.seek(cursor)
  if (from === undefined) return 'Failed to seek to cursor: Invalid argument'
  const count = readCount(options)
  if (count === undefined) return `Failed to parse lines '${last('lines')}'`
  const follow = options.has('follow')
  const isReverse = options.has('reverse')
  const inOrder = (entries: readonly Entry[]): readonly Entry[] => (isReverse ? entries.toReversed() : entries)
  const newest = (entries: readonly Entry[], number: number): readonly Entry[] =>
    entries.slice(entries.length - Math.min(number, entries.length))
  return {
    /** The number of the first entry to read. */
    from,
    /** Whether all entries are requested: the newest few never reach back over the days that are not kept. */
    reachesBack: cursor === undefined && count === 'all',
    /** Selects the existing entries to print. */
    first: (entries: readonly Entry[]): readonly Entry[] => {
      if (count === 'all') return inOrder(entries.filter(match).filter(grep))
      const existing = entries.filter(selected)
      if (cursor !== undefined) return existing.filter(match).filter(grep).slice(0, count)
      // The manual: with --lines=, --grep= implies --reverse. While following, the last lines are counted before the
      // pattern is applied.
      if (follow) return newest(existing.filter(match), count).filter(grep)
      if (isReverse || options.has('grep')) {
        return newest(existing.filter(match).filter(grep), count).toReversed()
      }
      // Version 252 counts without --reverse: from --since on, or else from the end, ignoring --until.
      if (options.has('since')) return existing.filter(match).slice(0, count)
      return newest(existing, count).filter(match)
    },
    follow,
    show: (entry: Entry): boolean => match(entry) && grep(entry),
    render,
  }
}

/** How many existing entries to print: by default ten while following, otherwise all. */
const readCount = (options: ParsedArguments['options']): number | 'all' | undefined => {
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

const GRAMMAR = createGrammar(
  'f,follow m,merge a,all q,quiet e,pager-end no-pager no-tail o,output= output-fields= n,lines= u,unit= S,since= ' +
    'r,reverse U,until= g,grep= cursor=',
)

type Filter = (entry: Entry) => boolean

/** Selects by unit and by `FIELD=value`, with `+` between alternatives; returns journalctl's error if a match is invalid. */
const createFilter = (units: readonly string[], matches: readonly string[]): Filter | string => {
  const wrong = matches.find((match) => match !== '+' && !/^[A-Z0-9_]+=/.test(match))
  if (wrong !== undefined) return `Failed to add match '${wrong}': Invalid argument`
  const alternatives = matches
    .join('\n')
    .split('\n+\n')
    .filter((text) => text !== '')
    .map((text) => text.split('\n'))
  const unitFilters = units.map(ofUnit)
  return (entry) =>
    (unitFilters.length === 0 || unitFilters.some((filter) => filter(entry))) &&
    (alternatives.length === 0 || alternatives.some((fields) => matchesFields(fields, entry)))
}

/** Selects entries by their text; returns journalctl's error message if the pattern is invalid. */
const createGrep = (grep: string | undefined): Filter | string => {
  if (grep === undefined) return () => true
  try {
    // A pattern without a capital letter ignores case.
    const pattern = new RegExp(grep, /[A-Z]/.test(grep) ? '' : 'i')
    return ({ fields }) => pattern.test(fields['MESSAGE'] ?? '')
  } catch {
    return `Bad pattern "${grep}": it cannot be compiled`
  }
}

/** The time of `--since` or `--until`: `-2m`, `2m ago`, `@1700000000` or a date in UTC; returns an error message otherwise. */
const readTimeUs = (text: string | undefined, nowMs: number): number | undefined | string => {
  const us = text === undefined ? undefined : timeOf(text, nowMs) * 1000
  return Number.isNaN(us) ? `Failed to parse timestamp: ${text}` : us
}

const timeOf = (text: string, nowMs: number): number => {
  const [, minus, ago] = /^(?:-(\S+)|(\S+) ago)$/.exec(text) ?? []
  const span = minus ?? ago
  if (span !== undefined) return nowMs - (parseTimeSpan(span) ?? Number.NaN) * 1000
  const [, epoch] = /^@(\d+(?:\.\d+)?)$/.exec(text) ?? []
  if (epoch !== undefined) return Number(epoch) * 1000
  return /^\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?$/.test(text)
    ? Date.parse(`${text.replace(' ', 'T')}${text.length === 10 ? 'T00:00' : ''}Z`)
    : Number.NaN
}

/** Entries of the unit, and those of PID 1 about it. */
const ofUnit = (name: string): Filter => {
  const unit = name.includes('.') ? name : `${name}.service`
  return ({ fields }) =>
    fields['_SYSTEMD_UNIT'] === unit ||
    (fields['_PID'] === '1' && fields['UNIT'] === unit) ||
    (fields['_UID'] === '0' && fields['OBJECT_SYSTEMD_UNIT'] === unit)
}

/** Values of one field are alternatives; different fields must all match. */
const matchesFields = (wanted: readonly string[], { fields }: Entry): boolean => {
  const [names, found] = [new Set<string>(), new Set<string>()]
  for (const match of wanted) {
    const name = match.slice(0, match.indexOf('='))
    names.add(name)
    if (match === `${name}=${fields[name] ?? ''}`) found.add(name)
  }
  return names.size === found.size
}

/** Renders an entry for `-o`; undefined for an unknown format. */
const renderEntry = (
  output: string,
  fields: readonly string[] | undefined,
  bootId: string,
): ((entry: Entry) => string) | undefined => {
  if (output === 'json') return renderJson(fields, bootId)
  if (output === 'cat') return (entry) => entry.fields['MESSAGE'] ?? ''
  return output === 'short' ? renderShort : undefined
}

const renderJson = (outputFields: readonly string[] | undefined, bootId: string) => {
  const wanted = outputFields && new Set(outputFields)
  return ({ cursor, realtimeUs, monotonicUs, fields }: Entry): string => {
    const shown: Record<string, string> = {
      // These four are always included.
      __CURSOR: cursor,
      __REALTIME_TIMESTAMP: String(realtimeUs),
      __MONOTONIC_TIMESTAMP: String(monotonicUs),
      _BOOT_ID: bootId,
    }
    for (const [name, value] of Object.entries(fields)) {
      if (!wanted || wanted.has(name)) shown[name] = value
    }
    return JSON.stringify(shown)
  }
}

/** `Mar 02 08:15:30 simulated systemd[1]: …` */
const renderShort = ({ realtimeUs, fields }: Entry): string => {
  const at = new Date(realtimeUs / 1000)
  const month = MONTHS[at.getUTCMonth()]
  const day = String(at.getUTCDate()).padStart(2, '0')
  const { SYSLOG_IDENTIFIER: name, _PID: pid, MESSAGE: message } = fields
  return `${month} ${day} ${at.toISOString().slice(11, 19)} simulated ${name}[${pid}]: ${message}`
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
