import { figure } from '../../core/format.ts'
import { createReadStream } from 'node:fs'
import { readNames } from '../../config/key-names.ts'
import { type LedgerBatch, readLedger } from './ledger.ts'
import { configOf } from '../../cli/config.ts'
import type { ConfigOptions } from '../../cli/config-options.ts'
import { type Io, isInterrupted, reportInterrupted, writeAll, type CommandContext } from '../../cli/io.ts'
import { createLedgerLines, renderSummary, rowAsJson, summaryAsJson } from './render.ts'
import { wrap, createStyle } from '../../cli/terminal/style.ts'
import { createProgress } from '../../cli/terminal/progress.ts'

export interface Options extends ConfigOptions {
  readonly follow?: true
  readonly lines?: number
  readonly since?: number
  readonly until?: number
  readonly file?: string
  readonly names?: true
  readonly finalized?: true
  readonly json?: true
  readonly color: boolean
}

const NEWEST = 20

export const printLedger = async ({ io, exit, options, command }: CommandContext<Options>): Promise<void> => {
  const { follow = false, since, until, file } = options
  if (follow && (until !== undefined || file !== undefined)) {
    command.error('error: --follow excludes --until and --file', {
      exitCode: 2,
    })
  }
  const { config } = configOf(io, options)
  const { clock, signal } = io
  const path = io.env['PATH'] ?? '/usr/bin:/bin'
  const hasRange = since !== undefined || until !== undefined || file !== undefined
  const progress = createProgress(io)
  try {
    const page = createPage(io, options, namesOf(options, config.names.file))
    let blocks = 0
    const batches = readLedger(
      { config, clock, path, signal, ...io.overrides },
      {
        since,
        until,
        newest: options.lines ?? (hasRange ? undefined : NEWEST),
        follow,
        ...recordingOf(io, file),
      },
    )
    for await (const batch of batches) {
      progress.end()
      await page.show(batch)
      blocks = batch.summary.blocks
      if (!follow) progress.show(`${figure(blocks)} blocks`)
    }
    progress.end()
    if (!follow && isInterrupted(io)) {
      reportInterrupted(io, exit, { hasOutput: page.hasOutput() })
      return
    }
    await page.end()
    if (blocks === 0 && !follow) io.stderr.write(NOTHING)
    exit(blocks > 0 || follow ? 0 : 1)
  } finally {
    progress.end()
  }
}

const NOTHING =
  'No blocks in the ledger stream. What to do: check that the service ledger-tail is running\n' +
  '(`chain-agent status ledger-tail`), start it if it is not, or use an earlier --since.\n'

const namesOf = ({ names }: Options, file: string | null): ReadonlyMap<string, string> =>
  names && file !== null ? readNames(file) : new Map<string, string>()

const recordingOf = (io: Io, file: string | undefined) => {
  if (file === undefined) return {}
  // Opened when it is read: an error of a stream without listeners would end the process.
  const recording = () =>
    file === '-' ? { name: 'standard input', bytes: io.stdin } : { name: file, bytes: createReadStream(file) }
  return { recording }
}

/** Prints rows as text lines, as one JSON document, or as one document per line. */
const createPage = (io: Io, options: Options, names: ReadonlyMap<string, string>) => {
  const { json = false, follow = false, finalized = false } = options
  const style = createStyle(io, { color: options.color })
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
        ? `${shown === 0 ? '{"events":[' : ''}\n],"summary":${JSON.stringify(summaryAsJson(last))}}\n`
        : renderSummary(last)
            .flatMap((sentence) => wrap(sentence, style))
            .map((line) => `${line}\n`)
            .join('')
      await writeAll(io, text)
    },
  }
}
