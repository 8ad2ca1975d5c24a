import { ParseError } from '../core/errors.ts'
import {
  type ChunkList,
  type Draft,
  emptyDraft,
  type IdentifiedBlock,
  type ListName,
  type StorageDevice,
  type Timeline,
  type TimelineName,
} from './mpt-draft.ts'
import { readSentence } from './mpt-sentences.ts'
import { plainLines } from './plain-lines.ts'

export { readStorageFailure } from './mpt-failure.ts'

/** What the storage tool says of the database, in every layout so far; null is what it left out or does not know. */
export interface StorageReport {
  /** The oldest layout that has all that was said: A to v0.10, B to v0.12.0, C to v0.14, D never released, E since v0.15. */
  readonly layout: 'A' | 'B' | 'C' | 'D' | 'E'
  readonly devices: readonly StorageDevice[]
  /** Null is a list that was not printed. */
  readonly lists: Readonly<Record<ListName, ChunkList | null>>
  /** Before layout D there is one, under the name of the first. */
  readonly timelines: Readonly<Record<TimelineName, Timeline | null>>
  /** The bound on the history, which moves with the disk's usage: no height. */
  readonly historyMaxBlocks: bigint | null
  readonly latestBlock: Readonly<
    Record<'proposed' | 'voted', IdentifiedBlock | null> &
      Record<'finalized' | 'verified', bigint | null>
  >
  /** False for a report that was cut, and for those of 2024, which end like one. */
  readonly complete: boolean
  /** Lines that were not understood, or not to their end. */
  readonly unknownLines: number
}

/**
 * Parses what `chain-mpt --storage …` prints; what is cut or unknown in it is left out. Throws a
 * ParseError when it has neither a row of a device nor a history.
 */
export const parseStorageReport = (text: string): StorageReport => {
  const lines = plainLines(text).map((line) => line.trimStart())
  const report = readReport(text, lines)
  const last = lines.at(-1) ?? ''
  if (report.complete || last === '') return report
  // It breaks off within a line: "3728" may be the beginning of "37281107".
  const cut = last.slice(0, last.lastIndexOf(' ') + 1).trimEnd()
  return { ...readReport(text, [...lines.slice(0, -1), cut]), complete: false }
}

/** Until v0.14.3 the tool logs where it reports. */
const LOG_LINE = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ .*\bLOG_[A-Z]+/

const readReport = (text: string, lines: readonly string[]): StorageReport => {
  const draft = emptyDraft()
  const said = lines
    .filter((line) => line !== '' && !LOG_LINE.test(line))
    .map((line) => readSentence(draft, line))
  if (!draft.seen.has('device') && !draft.seen.has('history')) {
    throw new ParseError('the report on the storage', 'a row of a device, or the history', text)
  }
  const layout = layoutOf(draft)
  return {
    layout,
    devices: draft.devices,
    lists: draft.lists,
    timelines: draft.timelines,
    historyMaxBlocks: draft.historyMaxBlocks,
    latestBlock: draft.latest,
    complete: !said.includes('part') && hasAll(draft, layout),
    unknownLines: said.filter((how) => how !== 'whole').length,
  }
}

const layoutOf = ({ seen }: Draft): StorageReport['layout'] => {
  if (seen.has('layout E')) return 'E'
  if (seen.has('layout D')) return 'D'
  if (seen.has('proposed')) return 'C'
  return seen.has('layout B') ? 'B' : 'A'
}

const hasAll = ({ seen, timelines }: Draft, layout: StorageReport['layout']): boolean => {
  const names: readonly TimelineName[] = timelines.secondary
    ? ['primary', 'secondary']
    : ['primary']
  const ofTimelines = ['historyBlocks', 'autoExpireBlock', ...(layout === 'E' ? ['kind'] : [])]
  const sentences = ['device', 'fast', 'slow', 'free', 'retention', 'finalized']
  return sentences
    .concat(names.flatMap((name) => ofTimelines.map((part) => `${name} ${part}`)))
    .every((sentence) => seen.has(sentence))
}
