import { withinBounds } from '../core/bounds.ts'
import { parseU64 } from '../core/units.ts'

export interface StorageDevice {
  /** The resolved path: `/dev/nvme0n1p1` for a link to it. Empty for a deleted file. */
  readonly path: string
  readonly capacityBytes: number | null
  readonly usedBytes: number | null
  /** From the printed percentage, which the tool computes from exact bytes. */
  readonly usedRatio: number | null
}

export type ListName = 'fast' | 'slow' | 'free'

export interface ChunkList {
  readonly chunks: number
  /** Null if the line is truncated before it. */
  readonly capacityBytes: number | null
  readonly usedBytes: number | null
}

export interface Timeline {
  /** The state encoding as printed; only in layout E. */
  readonly kind: string | null
  /** 0 if the report calls the timeline empty. */
  readonly historyBlocks: bigint | null
  readonly earliestBlock: bigint | null
  readonly latestBlock: bigint | null
  /** May be 0 or negative. */
  readonly autoExpireBlock: bigint | null
}

export interface IdentifiedBlock {
  readonly number: bigint
  /** 64 hex digits, no 0x; null in layout A. */
  readonly id: string | null
  /** Only for the voted block in layout A. */
  readonly round: bigint | null
}

export type TimelineName = 'primary' | 'secondary'

/** The values parsed so far. */
export interface Draft {
  readonly devices: StorageDevice[]
  readonly lists: Record<ListName, ChunkList | null>
  readonly timelines: Record<TimelineName, Timeline | null>
  readonly latest: Record<'proposed' | 'voted', IdentifiedBlock | null> &
    Record<'finalized' | 'verified', bigint | null>
  historyMaxBlocks: bigint | null
  /** The timeline of the current section (layout E). */
  timeline: TimelineName | null
  /** Which sentences were found: the value of a sentence may be unknown although the sentence is there. */
  readonly seen: Set<string>
}

export const emptyDraft = (): Draft => ({
  devices: [],
  lists: { fast: null, slow: null, free: null },
  timelines: { primary: null, secondary: null },
  latest: { proposed: null, voted: null, finalized: null, verified: null },
  historyMaxBlocks: null,
  timeline: null,
  seen: new Set(),
})

/** Adds values to a timeline. A sentence counts as found even if its value is unknown. */
const addToTimeline = (draft: Draft, name: TimelineName, found: Partial<Timeline>): void => {
  const nothing = { kind: null, historyBlocks: null, earliestBlock: null, latestBlock: null, autoExpireBlock: null }
  draft.timelines[name] = { ...nothing, ...draft.timelines[name], ...found }
  for (const part of Object.keys(found)) draft.seen.add(`${name} ${part}`)
}

/** Binary multiples under decimal names: `1.00 Kb` is 1024 bytes. */
const UNITS = ['bytes', 'Kb', 'Mb', 'Gb', 'Tb', 'Pb'] as const

/** The pattern of a size as the storage tool prints it. */
const SIZE = String.raw`\d{1,6}\.\d\d (?:${UNITS.join('|')})`

const WHOLE = new RegExp(`^${SIZE}$`)

/** `24.30 Gb` in bytes, rounded, as the tool prints two decimals; null for any other text and an impossible size. */
export const parseSize = (text: string): number | null => {
  if (!WHOLE.test(text)) return null
  const [amount = '', unit = ''] = text.split(' ')
  return withinBounds('bytes', Math.round(Number(amount) * 1024 ** UNITS.findIndex((name) => name === unit)))
}

/** `16.24` percent as the nearest number to 0.1624. */
const parsePercent = (digits: string): number | null => withinBounds('ratio', Number(`${digits}e-2`))

type Groups = readonly (string | undefined)[]

interface Rule {
  /** Matches a number only together with the text after it: a line may be truncated anywhere. */
  readonly pattern: RegExp
  /** Adds the sentence's values to the draft; false if its end is missing. */
  take(draft: Draft, groups: Groups): boolean
}

/** Reads a trimmed line into the draft; `part` if the line does not end as expected. */
export const readSentence = (draft: Draft, line: string): 'whole' | 'part' | 'unknown' => {
  for (const { pattern, take } of RULES) {
    const found = pattern.exec(line)
    if (found) return take(draft, found) && found[0].length === line.length ? 'whole' : 'part'
  }
  return 'unknown'
}

const u64 = (digits: string | undefined): bigint | null => parseU64(digits ?? '') ?? null

const i64 = (digits: string | undefined): bigint | null => {
  return digits === undefined ? null : withinBounds('i64', BigInt(digits))
}

const timelineOf = (word: string | undefined): TimelineName => (word === 'Secondary' ? 'secondary' : 'primary')

const takeHistory = (draft: Draft, name: TimelineName, groups: Groups): boolean => {
  const [, empty, blocks, earliest, latest] = groups
  draft.seen.add('history')
  if (empty !== undefined) {
    addToTimeline(draft, name, { historyBlocks: 0n })
    return empty.endsWith(')')
  }
  const earliestBlock = u64(earliest)
  const latestBlock = u64(latest)
  // A database that was never written to prints "1" block, from sentinel to sentinel.
  const isKnown = earliestBlock !== null && latestBlock !== null
  const historyBlocks = isKnown ? u64(blocks) : null
  addToTimeline(draft, name, { historyBlocks, earliestBlock, latestBlock })
  return latest !== undefined
}

const RULES: readonly Rule[] = [
  {
    pattern: /^(?:MPT database on storages:|Capacity\s+Used\s+%\s+Path|MPT database internal lists:)$/,
    take: () => true,
  },
  {
    // At 100.00 there is no space before the percentage.
    pattern: new RegExp(String.raw`^(${SIZE})\s*(${SIZE})\s*(\d{1,3}\.\d\d)%\s+"([^"\\]*(?:\\.[^"\\]*)*)"`),
    take: ({ devices, seen }, [, capacity = '', used = '', percent = '', path = '']) => {
      seen.add('device')
      devices.push({
        path: path.replaceAll(/\\(.)/g, '$1'),
        capacityBytes: parseSize(capacity),
        usedBytes: parseSize(used),
        usedRatio: parsePercent(percent),
      })
      return true
    },
  },
  {
    pattern: new RegExp(
      String.raw`^(Fast|Slow|Free): (\d{1,9}) chunks\b(?: with capacity (${SIZE})(?: used (${SIZE}))?)?`,
    ),
    take: ({ lists, seen }, [, word, count, capacity, used]) => {
      const name = word === 'Fast' ? 'fast' : word === 'Slow' ? 'slow' : 'free'
      const chunks = Number(count)
      seen.add(name)
      // For an empty list the tool prints only the count.
      const none = chunks === 0 ? 0 : null
      lists[name] = {
        chunks,
        capacityBytes: capacity === undefined ? none : parseSize(capacity),
        usedBytes: used === undefined ? none : parseSize(used),
      }
      return chunks === 0 || used !== undefined
    },
  },
  {
    pattern: /^(MPT database|It) has been configured to retain no more than (\d{1,20})(?: versions)?(?=[. ])\.?/,
    take: (draft, [, subject, blocks]) => {
      draft.seen.add('retention')
      if (subject !== 'It') draft.seen.add('layout E')
      draft.historyMaxBlocks = u64(blocks)
      return true
    },
  },
  {
    pattern:
      /^MPT database has (?:(empty\b.*)|(\d{1,20}) history,)(?: earliest is (\d{1,20}),?(?= )(?: latest is (\d{1,20})\.)?)?/,
    take: (draft, groups) => takeHistory(draft, 'primary', groups),
  },
  {
    pattern:
      /^Secondary timeline is active: (?:(empty\b.*)|(\d{1,20}) history,)(?: earliest is (\d{1,20}),?(?= )(?: latest is (\d{1,20})\.)?)?/,
    take: (draft, groups) => {
      draft.seen.add('layout D')
      return takeHistory(draft, 'secondary', groups)
    },
  },
  {
    pattern: /^History: (?:(empty\b.*)|(\d{1,20}) versions,)(?: earliest is (\d{1,20}),(?: latest is (\d{1,20})$)?)?/,
    take: (draft, groups) => draft.timeline !== null && takeHistory(draft, draft.timeline, groups),
  },
  {
    pattern: /^Latest (proposed|voted) is \((\d{1,20}),(?: ([0-9a-f]{64}|\d{1,20})\)\.)?/,
    take: ({ latest, seen }, [, word, digits, detail]) => {
      const name = word === 'proposed' ? 'proposed' : 'voted'
      const number = u64(digits)
      const id = detail?.length === 64 ? detail : null
      const round = id === null ? u64(detail) : null
      seen.add(name)
      if (id !== null) seen.add('layout B')
      latest[name] = number === null ? null : { number, id, round }
      return detail !== undefined
    },
  },
  {
    pattern:
      /^Latest finalized is (\d{1,20}),(?: latest verified is (\d{1,20})(?=,|$)(?:, auto expire version is (-?\d{1,20})(?=$| )(?: \(primary\), (-?\d{1,20}) \(secondary\))?)?)?/,
    take: (draft, [, finalized, verified, expire, secondary]) => {
      draft.latest.finalized = u64(finalized)
      draft.latest.verified = u64(verified)
      if (verified !== undefined) draft.seen.add('finalized')
      if (expire !== undefined) addToTimeline(draft, 'primary', { autoExpireBlock: i64(expire) })
      if (secondary !== undefined) {
        draft.seen.add('layout D')
        addToTimeline(draft, 'secondary', { autoExpireBlock: i64(secondary) })
      }
      return verified !== undefined
    },
  },
  {
    pattern: /^(?:Active timelines|(Primary|Secondary)):$/,
    take: (draft, [, word]) => {
      draft.seen.add('layout E')
      draft.timeline = word === undefined ? null : timelineOf(word)
      if (draft.timeline) addToTimeline(draft, draft.timeline, {})
      return true
    },
  },
  {
    pattern: /^(?:State machine kind: ([\w-]{1,40})|Auto expire version: (-?\d{1,20}))$/,
    take: (draft, [, kind, expire]) => {
      if (draft.timeline === null) return false
      addToTimeline(draft, draft.timeline, kind === undefined ? { autoExpireBlock: i64(expire) } : { kind })
      return true
    },
  },
]

// oxlint-disable-next-line no-control-regex -- colours and pager output
const ESCAPES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\([0AB])/g

/** The lines of terminal output, without escape sequences and trailing whitespace. */
export const plainLines = (text: string): readonly string[] =>
  text
    .replaceAll(ESCAPES, '')
    .split(/\r\n|\n|\r/)
    .map((line) => line.trimEnd())
