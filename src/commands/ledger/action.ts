import { count, figure } from '../../core/format.ts'
import { type KeyNames, namesIn } from '../../config/key-names.ts'
import { toApiJson, toJson } from '../../core/json.ts'
import { oneLine } from '../../health/sections/fact.ts'
import { type LedgerBatch, type LedgerRow, readLedger, recordingOf } from './ledger.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { type Io, INCOMPLETE, InterruptedError, isInterrupted, writeAll } from '../../terminal/io.ts'
import type { Tone } from '../../domain/health.ts'
import type { OutputOptions } from '../../terminal/output.ts'
import { createStyle, type Style } from '../../terminal/style.ts'
import { createProgress } from '../../terminal/progress.ts'

interface Options extends OutputOptions {
  readonly follow?: true
  readonly lines?: number
  readonly since?: number
  readonly until?: number
  readonly file?: string
  readonly names?: true
  readonly finalized?: true
}

const NEWEST = 20

export const printLedger = async (context: ConfiguredContext<Options>): Promise<void> => {
  const { io, exit, options, config, host } = context
  const { follow = false, since, until, file } = options
  const hasRange = since !== undefined || until !== undefined || file !== undefined
  const progress = createProgress(io)
  try {
    const page = createPage(io, options, namesIn(options.names ? config.names.file : null))
    let blocks = 0
    let lines = 0
    const newest = options.lines ?? (hasRange ? undefined : NEWEST)
    const query = { since, until, newest, follow, recording: recordingOf(io, file) }
    for await (const batch of readLedger(host, query)) {
      progress.end()
      await page.show(batch)
      blocks = batch.summary.blocks
      lines = batch.lines
      if (!follow) progress.show(`${figure(blocks)} blocks`)
    }
    progress.end()
    if (!follow && isInterrupted(io)) throw new InterruptedError(page.hasOutput() ? INCOMPLETE : undefined)
    await page.end()
    if (blocks === 0 && !follow) io.stderr.write(file === undefined ? NOTHING : nothingIn(file, lines))
    exit(blocks > 0 || follow ? 0 : 1)
  } finally {
    progress.end()
  }
}

const NOTHING =
  'No blocks in the ledger stream. What to do: check that the service ledger-tail is running\n' +
  '(`chain-agent status ledger-tail`), start it if it is not, or use an earlier --since.\n'

const nothingIn = (file: string, lines: number): string =>
  `No blocks in ${file === '-' ? 'standard input' : file}: ${figure(lines)} lines were read, and none is about a block in the time range.\n` +
  'Expected: the log of ledger-tail, as `journalctl -u UNIT` prints it, with or without -o json.\n'

/** Prints rows as text lines, as one JSON document, or as one document per line. */
const createPage = (io: Io, options: Options, names: KeyNames) => {
  const { json = false, follow = false, finalized = false } = options
  const style = createStyle(io)
  const lines = createLedgerLines({ style, names, showsFinalized: finalized })
  let last: LedgerBatch | undefined
  let shown = 0
  const isShown = (row: LedgerBatch['rows'][number]): boolean =>
    finalized || !('event' in row) || row.event !== 'finalized'
  const asJson = (rows: LedgerBatch['rows']): string =>
    rows
      .filter(isShown)
      .map((row) => {
        shown += 1
        const text = JSON.stringify(rowAsJson(row, names))
        if (follow) return `${text}\n`
        return `${shown === 1 ? '{"events":[' : ','}\n${text}`
      })
      .join('')
  const asLines = (rows: LedgerBatch['rows']): string => {
    const texts = rows.map(lines.row).filter((text) => text !== undefined)
    const head = shown === 0 && texts.length > 0 ? [lines.head()] : []
    shown += texts.length
    return [...head, ...texts].map((text) => `${text}\n`).join('')
  }
  return {
    hasOutput: (): boolean => shown > 0,
    show: async (batch: LedgerBatch): Promise<void> => {
      last = batch
      await writeAll(io, json ? asJson(batch.rows) : asLines(batch.rows))
    },
    end: async (): Promise<void> => {
      if (follow || !last) return
      const text = json
        ? `${shown === 0 ? '{"events":[' : ''}\n],"summary":${JSON.stringify(toJson(last.summary))}}\n`
        : renderSummary(last)
            .flatMap((sentence) => style.wrap(sentence))
            .map((line) => `${line}\n`)
            .join('')
      await writeAll(io, text)
    },
  }
}

interface LineOptions {
  readonly style: Style
  readonly names: KeyNames
  /** Whether finalized blocks have lines of their own. */
  readonly showsFinalized: boolean
}

/** With fewer columns, lines are short. */
const MIN_WIDE_COLUMNS = 100
/** With fewer columns, there is no address of the author. */
const MIN_ADDRESS_COLUMNS = 120
const ADDRESS_WIDTH = 28

const WIDTHS = { round: 11, block: 11, transactions: 5, author: 16, narrowAuthor: 8, after: 8 } as const

/** Renders rows as lines; undefined if a row has no line. */
const createLedgerLines = ({ style, names, showsFinalized }: LineOptions) => {
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
        (row.blockAt === null ? 'unknown' : after(row.writtenAt - row.blockAt, isWide)).padEnd(WIDTHS.after),
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
const renderSummary = ({ summary }: Pick<LedgerBatch, 'summary'>): readonly string[] => {
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
const rowAsJson = (row: LedgerRow, names: KeyNames): unknown => {
  if ('kind' in row) {
    const { kind: event, ...range } = row
    return toApiJson({ event, ...range })
  }
  const { writtenAt: seenAt, isOwn: own, ...event } = row
  const more = { name: names.get(row.author) ?? null, own, seenAt }
  if (!('blockAt' in event)) return toApiJson({ ...event, ...more })
  const { blockAt, ...block } = event
  return toApiJson({ ...block, ...more, blockAt, seenAfterMs: blockAt === null ? null : seenAt - blockAt })
}
