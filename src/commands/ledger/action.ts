import { count, figure } from '../../core/format.ts'
import { type KeyNames, namesIn } from '../../config/key-names.ts'
import { toApiJson, toJson } from '../../core/json.ts'
import { ifUnreadable } from '../../core/errors.ts'
import { fetchSnapshot } from '../shared/agent-snapshot.ts'
import { ownKeyOf } from '../shared/own-key.ts'
import { oneLine } from '../../health/sections/fact.ts'
import type { LedgerBlock } from '../../parsers/ledger-tail.ts'
import { type LedgerBatch, type LedgerRow, readLedger, recordingOf } from './ledger.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { type Io, INCOMPLETE, InterruptedError, isInterrupted, writeAll } from '../../terminal/io.ts'
import type { Tone } from '../../domain/health.ts'
import { linesText, type OutputOptions } from '../../terminal/output.ts'
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
    // The ledger can be read without an agent.
    const isKnown = config.node.publicKey !== null
    const agent = isKnown ? null : await fetchSnapshot(host).catch(ifUnreadable(() => null))
    const ownKey = await ownKeyOf(config, agent)
    for await (const batch of readLedger({ ...host, ownKey }, query)) {
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
  const lines = createLedgerLines(style, names, finalized)
  const isDocument = json && !follow
  const head = isDocument ? '{"events":[' : json ? '' : `${lines.head}\n`
  let last: LedgerBatch | undefined
  let shown = 0
  const print = (row: LedgerRow): string => {
    const text = json ? JSON.stringify(rowAsJson(row, names)) : lines.row(row)
    const before = shown === 0 ? head : isDocument ? ',' : ''
    shown += 1
    return isDocument ? `${before}\n${text}` : `${before}${text}\n`
  }
  return {
    hasOutput: (): boolean => shown > 0,
    show: async (batch: LedgerBatch): Promise<void> => {
      last = batch
      const rows = batch.rows.filter((row) => finalized || !('event' in row) || row.event !== 'finalized')
      await writeAll(io, rows.map(print).join(''))
    },
    end: async (): Promise<void> => {
      if (follow || !last) return
      const text = json
        ? `${shown === 0 ? head : ''}\n],"summary":${JSON.stringify(toJson(last.summary))}}\n`
        : linesText(renderSummary(last).flatMap((sentence) => style.wrap(sentence)))
      await writeAll(io, text)
    },
  }
}

/** With fewer columns, lines are short. */
const MIN_WIDE_COLUMNS = 100
/** With fewer columns, there is no address of the author. */
const MIN_ADDRESS_COLUMNS = 120
const ADDRESS_WIDTH = 28

type OwnFlag = Pick<Extract<LedgerRow, { readonly event: string }>, 'isOwn'>

interface Column {
  readonly title: string
  /** Negative for a text, which begins where the title does. */
  readonly width: number
  readonly isShown?: boolean
  readonly text: (block: LedgerBlock & OwnFlag) => string
}

/** Renders rows as lines. `showsFinalized`: whether finalized blocks have lines of their own. */
const createLedgerLines = (style: Style, names: KeyNames, showsFinalized: boolean) => {
  const isWide = style.width === undefined || style.width >= MIN_WIDE_COLUMNS
  const hasAddresses = style.width === undefined || style.width >= MIN_ADDRESS_COLUMNS
  const [timeWidth, authorWidth] = isWide ? [24, 16] : [12, 8]
  const author = ({ author: key, isOwn }: Pick<LedgerBlock, 'author'> & OwnFlag): string => {
    const name = style.plain(names.get(key) ?? `${key.slice(0, 4)}..${key.slice(isWide ? -4 : -2)}`)
    const shown = isOwn && names.get(key) === undefined ? (isWide ? `${name} own` : 'own') : name
    return [...shown].slice(0, authorWidth).join('')
  }
  const age = ({ blockAt, writtenAt }: LedgerBlock): string =>
    blockAt === null ? 'unknown' : after(writtenAt - blockAt, isWide)
  const address = ({ authorAddress }: LedgerBlock): string =>
    style.plain(oneLine(authorAddress ?? '')).slice(0, ADDRESS_WIDTH)
  const columns: readonly Column[] = [
    { title: 'event', width: -10, isShown: isWide || showsFinalized, text: ({ event }) => event },
    { title: 'round', width: 11, text: ({ round }) => figure(round) },
    { title: 'block', width: 11, text: ({ seqNum }) => figure(seqNum) },
    { title: 'txs', width: 5, text: (block) => ('transactions' in block ? figure(block.transactions) : '') },
    { title: 'author', width: -authorWidth, text: author },
    { title: 'after', width: -8, text: age },
    { title: 'author address', width: -ADDRESS_WIDTH, isShown: hasAddresses, text: address },
  ]
  const cells = (textOf: (column: Column) => string): string =>
    columns
      .filter(({ isShown = true }) => isShown)
      .map((one) => (one.width < 0 ? textOf(one).padEnd(-one.width) : textOf(one).padStart(one.width)))
      .join(' ')
  const line = (tone: Tone | undefined, at: number, rest: string): string => {
    const time = new Date(at).toISOString().slice(...(isWide ? [0] : [11, 23]))
    const text = `${tone === undefined ? ' ' : style.sign(tone)} ${time}  ${rest}`.trimEnd()
    return tone === undefined ? text : style.paint(tone, text)
  }

  return {
    head: style.paint('quiet', `  ${'seen (UTC)'.padEnd(timeWidth)}  ${cells(({ title }) => title)}`.trimEnd()),
    row: (row: LedgerRow): string => {
      if ('kind' in row) {
        const what = row.kind === 'skipped' ? 'skipped' : 'not in the log'
        return line('notice', row.at, `${roundsOf(row)} ${what}`)
      }
      if (row.event !== 'timeout')
        return line(
          row.isOwn ? 'strong' : undefined,
          row.writtenAt,
          cells(({ text }) => text(row)),
        )
      const whose = row.isOwn ? 'own turn' : author(row)
      const more = row.isOwn ? `${author(row)}, ${whose}` : `the turn of ${whose}`
      return line(
        row.isOwn ? 'bad' : 'notice',
        row.writtenAt,
        `round ${figure(row.round)} timed out: ${isWide ? more : whose}`,
      )
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
