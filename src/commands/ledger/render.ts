import type { LedgerBatch } from './ledger.ts'
import type { LedgerRow } from './rounds.ts'
import { figure } from '../../core/format.ts'
import type { Style, Tone } from '../../cli/terminal/style.ts'
import { oneLine } from '../status/texts.ts'

interface Options {
  readonly style: Style
  /** Names for keys. */
  readonly names: ReadonlyMap<string, string>
  /** Whether finalized blocks have lines of their own. */
  readonly showsFinalized: boolean
}

/** Below so many columns the line is a short one. */
const WIDE = 100
/** From so many columns on there is room for the address of the author. */
const WIDEST = 120
const ADDRESS = 28

const WIDTHS = {
  round: 11,
  block: 11,
  transactions: 5,
  author: 16,
  narrowAuthor: 8,
  after: 8,
} as const

/** A line for a row; undefined where the row has none. */
export const createLedgerLines = ({ style, names, showsFinalized }: Options) => {
  const isWide = style.width === undefined || style.width >= WIDE
  const hasAddresses = style.width === undefined || style.width >= WIDEST
  const time = (at: number): string =>
    new Date(at).toISOString().slice(...(isWide ? [0] : [11, 23]))
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
        const whose = row.isOwn ? 'our own turn' : who.trimEnd()
        const more = row.isOwn ? `${who.trimEnd()}, ${whose}` : `the turn of ${whose}`
        const turn = isWide ? more : whose
        return line(
          row.isOwn ? 'bad' : 'notice',
          row.writtenAt,
          `round ${figure(row.round)} timed out: ${turn}`,
        )
      }
      if (row.event === 'finalized' && !showsFinalized) return undefined
      const columns = [
        ...(isWide || showsFinalized ? [row.event.padEnd(10)] : []),
        figure(row.round).padStart(WIDTHS.round),
        figure(row.seqNum).padStart(WIDTHS.block),
        ('transactions' in row ? figure(row.transactions) : '').padStart(WIDTHS.transactions),
        who,
        after(row.writtenAt - row.blockAt, isWide).padEnd(WIDTHS.after),
        ...(hasAddresses ? [style.plain(oneLine(row.authorAddress ?? '')).slice(0, ADDRESS)] : []),
      ]
      return line(row.isOwn ? 'strong' : undefined, row.writtenAt, columns.join(' '))
    },
  }
}

const roundsOf = ({ from, to }: { readonly from: bigint; readonly to: bigint }): string =>
  from === to ? `round ${figure(from)}` : `rounds ${figure(from)}-${figure(to)}`

/** From the block's own time until it was seen. A leader's clock may be ahead of ours. */
const after = (ms: number, isWide: boolean): string => {
  const gap = isWide ? ' ' : ''
  if (Math.abs(ms) < 1000) return `${ms}${gap}ms`
  if (Math.abs(ms) < 100_000) return `${(ms / 1000).toFixed(1)}${gap}s`
  return `${figure(Math.round(ms / 60_000))}${gap}min`
}

const span = (from: bigint | null, to: bigint | null): string =>
  [from, to].map((number) => (number === null ? 'unknown' : figure(number))).join(' to ')

/** What it comes to, in sentences. */
export const renderSummary = ({ summary }: Pick<LedgerBatch, 'summary'>): readonly string[] => {
  const { firstRound, lastRound, firstBlock, lastBlock, own, blocks, skipped, unseen } = summary
  const count = (value: number | bigint, word: string): string =>
    `${figure(value)} ${word}${Number(value) === 1 ? '' : 's'}`
  const ownText =
    own === null
      ? 'own blocks unknown: set `node.publicKey`'
      : `${count(own.blocks, 'own block')}, ${count(own.timeouts, 'own timeout')}`
  const told =
    `${count(blocks, 'block')}${firstBlock === null ? '' : ` (${span(firstBlock, lastBlock)})`} with ` +
    `${count(summary.transactions, 'transaction')} in rounds ${span(firstRound, lastRound)}; ` +
    `${count(skipped, 'round')} skipped; ${ownText}; ${figure(summary.finalized)} finalized.`
  return [
    ...(firstRound === null ? [] : [told]),
    ...(unseen > 0n ? [`${count(unseen, 'round')} not in the log: it has gaps.`] : []),
    ...(summary.unparsed > 0 ? [`${count(summary.unparsed, 'line')} not understood.`] : []),
  ]
}
