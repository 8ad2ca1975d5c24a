import type { LedgerBatch } from './ledger.ts'
import type { LedgerRow } from './round-tracker.ts'
import { count, figure } from '../../core/format.ts'
import type { Style, Tone } from '../../cli/terminal/style.ts'
import { oneLine } from '../status/format.ts'
import { toJson } from '../../core/json.ts'

interface Options {
  readonly style: Style
  /** Names for keys. */
  readonly names: ReadonlyMap<string, string>
  /** Whether finalized blocks have lines of their own. */
  readonly showsFinalized: boolean
}

/** With fewer columns, lines are short. */
const MIN_WIDE_COLUMNS = 100
/** With fewer columns, there is no address of the author. */
const MIN_ADDRESS_COLUMNS = 120
const ADDRESS_WIDTH = 28

const WIDTHS = {
  round: 11,
  block: 11,
  transactions: 5,
  author: 16,
  narrowAuthor: 8,
  after: 8,
} as const

/** Renders rows as lines; undefined if a row has no line. */
export const createLedgerLines = ({ style, names, showsFinalized }: Options) => {
  const isWide = style.width === undefined || style.width >= MIN_WIDE_COLUMNS
  const hasAddresses = style.width === undefined || style.width >= MIN_ADDRESS_COLUMNS
  const time = (at: number): string => new Date(at).toISOString().slice(...(isWide ? [0] : [11, 23]))
  const author = (key: string, isOwn: boolean | null): string => {
    const width = isWide ? WIDTHS.author : WIDTHS.narrowAuthor
    const name = style.plain(names.get(key) ?? `${key.slice(0, 4)}..${key.slice(isWide ? -4 : -2)}`)
    const shown = isOwn && names.get(key) === undefined ? (isWide ? `${name} own` : 'own') : name
    return [...shown].slice(0, width).join('').padEnd(width)
  }
  const line = (tone: Tone | undefined, at: number, rest: string): string => {
    const text = `${tone === undefined ? ' ' : style.sign(tone)} ${time(at)}  ${rest}`.trimEnd()
    return tone === undefined ? text : style.paint(tone, text)
  }

  return {
    head: (): string => {
      const event = isWide || showsFinalized ? 'event      ' : ''
      const when = isWide ? 'seen (UTC)'.padEnd(24) : 'seen (UTC)'.padEnd(12)
      const width = isWide ? WIDTHS.author : WIDTHS.narrowAuthor
      const columns = `${event}${'round'.padStart(WIDTHS.round)} ${'block'.padStart(WIDTHS.block)} ${'txs'.padStart(WIDTHS.transactions)} ${'author'.padEnd(width)}`
      const last = hasAddresses ? `${'after'.padEnd(WIDTHS.after)} author address` : 'after'
      return style.paint('quiet', `  ${when}  ${columns} ${last}`)
    },
    row: (row: LedgerRow): string | undefined => {
      if ('kind' in row) {
        const what = row.kind === 'skipped' ? 'skipped' : 'not in the log'
        return line('notice', row.at, `${roundsOf(row)} ${what}`)
      }
      const who = author(row.author, row.isOwn)
      if (row.event === 'timeout') {
        const whose = row.isOwn ? 'own turn' : who.trimEnd()
        const more = row.isOwn ? `${who.trimEnd()}, ${whose}` : `the turn of ${whose}`
        const turn = isWide ? more : whose
        return line(row.isOwn ? 'bad' : 'notice', row.writtenAt, `round ${figure(row.round)} timed out: ${turn}`)
      }
      if (row.event === 'finalized' && !showsFinalized) return undefined
      const columns = [
        ...(isWide || showsFinalized ? [row.event.padEnd(10)] : []),
        figure(row.round).padStart(WIDTHS.round),
        figure(row.seqNum).padStart(WIDTHS.block),
        ('transactions' in row ? figure(row.transactions) : '').padStart(WIDTHS.transactions),
        who,
        after(row.writtenAt - row.blockAt, isWide).padEnd(WIDTHS.after),
        ...(hasAddresses ? [style.plain(oneLine(row.authorAddress ?? '')).slice(0, ADDRESS_WIDTH)] : []),
      ]
      return line(row.isOwn ? 'strong' : undefined, row.writtenAt, columns.join(' '))
    },
  }
}

const roundsOf = ({ from, to }: { readonly from: bigint; readonly to: bigint }): string =>
  from === to ? `round ${figure(from)}` : `rounds ${figure(from)}-${figure(to)}`

/** The time from the timestamp of the block until it was seen; negative if the clock of the leader is ahead. */
const after = (ms: number, isWide: boolean): string => {
  const gap = isWide ? ' ' : ''
  if (Math.abs(ms) < 1000) return `${ms}${gap}ms`
  if (Math.abs(ms) < 100_000) return `${(ms / 1000).toFixed(1)}${gap}s`
  return `${figure(Math.round(ms / 60_000))}${gap}min`
}

const span = (from: bigint | null, to: bigint | null): string =>
  [from, to].map((number) => (number === null ? 'unknown' : figure(number))).join(' to ')

/** The totals, in sentences. */
export const renderSummary = ({ summary }: Pick<LedgerBatch, 'summary'>): readonly string[] => {
  const { firstRound, lastRound, firstBlock, lastBlock, own, blocks, skipped, unseen } = summary
  const ownText =
    own === null
      ? 'own blocks unknown: set `node.publicKey`'
      : `${count(own.blocks, 'own block')}, ${count(own.timeouts, 'own timeout')}`
  const totals =
    `${count(blocks, 'block')}${firstBlock === null ? '' : ` (${span(firstBlock, lastBlock)})`} with ` +
    `${count(summary.transactions, 'transaction')} in rounds ${span(firstRound, lastRound)}; ` +
    `${count(skipped, 'round')} skipped; ${ownText}; ${figure(summary.finalized)} finalized.`
  return [
    ...(firstRound === null ? [] : [totals]),
    ...(unseen > 0n ? [`${count(unseen, 'round')} not in the log: it has gaps.`] : []),
    ...(summary.unparsed > 0 ? [`${count(summary.unparsed, 'line')} could not be parsed.`] : []),
  ]
}

/** A row for JSON: times in RFC 3339, 64-bit integers as decimal strings, unknown as null. */
export const rowAsJson = (row: LedgerRow, names: ReadonlyMap<string, string>): unknown => {
  if ('kind' in row) {
    const { kind, from, to, at } = row
    return toJson({ event: kind, from, to, at: new Date(at).toISOString() })
  }
  const { writtenAt, isOwn: own, ...event } = row
  const name = names.get(row.author) ?? null
  const more = { name, own, seenAt: new Date(writtenAt).toISOString() }
  if (!('blockAt' in event)) return toJson({ ...event, ...more })
  const { blockAt, ...block } = event
  const seenAfterMs = writtenAt - blockAt
  return toJson({ ...block, ...more, blockAt: new Date(blockAt).toISOString(), seenAfterMs })
}

export const summaryAsJson = ({ summary }: Pick<LedgerBatch, 'summary'>): unknown => toJson(summary)
