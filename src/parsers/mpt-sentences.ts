import { parseU64 } from '../core/units.ts'
import { addToTimeline, type Draft, type TimelineName } from './mpt-draft.ts'
import { parsePercent, parseSize, SIZE } from './mpt-size.ts'

type Groups = readonly (string | undefined)[]

interface Rule {
  /** Takes a number only together with what ends it: a line may be cut anywhere. */
  readonly pattern: RegExp
  /** Takes the sentence into the draft; false when its end is missing. */
  take(draft: Draft, groups: Groups): boolean
}

/** Reads a line without blanks at its ends into the draft; `part` is one that does not end as it should. */
export const readSentence = (draft: Draft, line: string): 'whole' | 'part' | 'unknown' => {
  for (const { pattern, take } of RULES) {
    const found = pattern.exec(line)
    if (found) return take(draft, found) && found[0].length === line.length ? 'whole' : 'part'
  }
  return 'unknown'
}

const u64 = (digits: string | undefined): bigint | null => parseU64(digits ?? '') ?? null

const i64 = (digits: string | undefined): bigint | null => {
  const value = BigInt(digits ?? '0')
  return digits !== undefined && BigInt.asIntN(64, value) === value ? value : null
}

const timelineOf = (word: string | undefined): TimelineName =>
  word === 'Secondary' ? 'secondary' : 'primary'

const takeHistory = (draft: Draft, name: TimelineName, groups: Groups): boolean => {
  const [, empty, blocks, earliest, latest] = groups
  draft.seen.add('history')
  if (empty !== undefined) {
    addToTimeline(draft, name, { historyBlocks: 0n })
    return empty.endsWith(')')
  }
  const earliestBlock = u64(earliest)
  const latestBlock = u64(latest)
  // A database that was never written to has "1", from the sentinel to the sentinel.
  const isKnown = earliestBlock !== null && latestBlock !== null
  const historyBlocks = isKnown ? u64(blocks) : null
  addToTimeline(draft, name, { historyBlocks, earliestBlock, latestBlock })
  return latest !== undefined
}

const RULES: readonly Rule[] = [
  {
    pattern:
      /^(?:MPT database on storages:|Capacity\s+Used\s+%\s+Path|MPT database internal lists:)$/,
    take: () => true,
  },
  {
    // At 100.00 there is no blank before the percent.
    pattern: new RegExp(
      String.raw`^(${SIZE})\s*(${SIZE})\s*(\d{1,3}\.\d\d)%\s+"([^"\\]*(?:\\.[^"\\]*)*)"`,
    ),
    take: ({ devices, seen }, [, capacity = '', used = '', percent = '', path = '']) => {
      seen.add('device')
      devices.push({
        path: path.replaceAll(/\\(.)/g, '$1'),
        capacityBytes: parseSize(capacity) ?? 0,
        usedBytes: parseSize(used) ?? 0,
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
      // Of an empty list the tool prints the count alone.
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
    pattern:
      /^(MPT database|It) has been configured to retain no more than (\d{1,20})(?: versions)?(?=[. ])\.?/,
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
    pattern:
      /^History: (?:(empty\b.*)|(\d{1,20}) versions,)(?: earliest is (\d{1,20}),(?: latest is (\d{1,20})$)?)?/,
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
      addToTimeline(
        draft,
        draft.timeline,
        kind === undefined ? { autoExpireBlock: i64(expire) } : { kind },
      )
      return true
    },
  },
]
