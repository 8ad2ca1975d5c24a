import { figure } from '../../core/format.ts'
import { createReadStream } from 'node:fs'
import { Command } from 'commander'
import { readNames } from '../../config/key-names.ts'
import { type LedgerBatch, readLedger } from './ledger.ts'
import { configOptions, type ConfigOptions, configOf } from '../../cli/config-options.ts'
import { readCount } from '../../cli/count-option.ts'
import { isInterrupted, sayInterrupted } from '../../cli/interrupted.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { rowAsJson, summaryAsJson } from './json.ts'
import { createLedgerLines, renderSummary } from './render.ts'
import { readMoment } from '../../cli/time-option.ts'
import { wrap } from '../../cli/terminal/layout.ts'
import { createProgress } from '../../cli/terminal/progress.ts'
import { createStyle } from '../../cli/terminal/style.ts'
import { send } from '../../cli/terminal/send.ts'

interface Options extends ConfigOptions {
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

/** `chain-agent ledger`: the ledger as a line per block, with the rounds that gave none. */
export const ledgerCommand = (io: Io, exit: (code: ExitCode) => void): Command => {
  const moment = readMoment(io.clock)
  const command = configOptions(new Command('ledger'))
  return command
    .description('print the ledger, a line per block, with skipped rounds marked')
    .option('-f, --follow', 'go on with what comes, until Ctrl-C')
    .option(
      '-n, --lines <number>',
      `the last so many blocks; ${NEWEST} where no time and no file is given`,
      readCount('blocks'),
    )
    .option('-S, --since <time>', 'from then on: 1h, 2026-03-01T12:00, yesterday', moment)
    .option('-U, --until <time>', 'up to then', moment)
    .option('--file <file>', 'lines of the stream or of `journalctl -o json`; - for standard input')
    .option('--names', 'names in the place of keys, from names.file of the configuration')
    .option('--finalized', 'finalized blocks, too; they are only counted without it')
    .option('--json', 'as JSON; a line per event with --follow')
    .option('--no-color', 'without colour')
    .addHelpText(
      'after',
      `
The stream comes from the service ledger-tail, which is optional: start it to have a ledger to read.
Each line tells when the block was seen (UTC), its round and number, transactions, who proposed it,
and how long after its own time it was seen. Own blocks, timeouts and skipped rounds have a mark.
Exit code 1 where there is no block to show.

Examples:
  chain-agent ledger -f
  chain-agent ledger --since 10m --names
  journalctl -u chain-ledger-tail -o json | chain-agent ledger --file -`,
    )
    .action(async (options: Options) => {
      const { follow = false, since, until, file } = options
      if (follow && (until !== undefined || file !== undefined)) {
        command.error('error: --follow goes on, --until and --file end; say one of them', {
          exitCode: 2,
        })
      }
      const { config } = configOf(io, options)
      const { clock, signal } = io
      const path = io.env['PATH'] ?? '/usr/bin:/bin'
      const hasStretch = since !== undefined || until !== undefined || file !== undefined
      const progress = createProgress(io)
      try {
        const page = createPage(io, options, namesOf(options, config.names.file))
        let blocks = 0
        const batches = readLedger(
          { config, clock, path, signal, ...io.standIns },
          {
            since,
            until,
            newest: options.lines ?? (hasStretch ? undefined : NEWEST),
            follow,
            ...recordingOf(io, file),
          },
        )
        for await (const batch of batches) {
          progress.end()
          await page.show(batch)
          blocks = batch.summary.blocks
          if (!follow) progress.say(`${figure(blocks)} blocks`)
        }
        progress.end()
        if (!follow && isInterrupted(io)) {
          sayInterrupted(io, exit, { isBegun: page.isBegun() })
          return
        }
        await page.end()
        if (blocks === 0 && !follow) io.stderr.write(NOTHING)
        exit(blocks > 0 || follow ? 0 : 1)
      } finally {
        progress.end()
      }
    })
}

const NOTHING =
  'No block of the ledger stream there. What to do: see that the service ledger-tail runs\n' +
  '(`chain-agent status ledger-tail`), start it where it does not, or look further back (--since).\n'

const namesOf = ({ names }: Options, file: string | null): ReadonlyMap<string, string> =>
  names && file !== null ? readNames(file) : new Map<string, string>()

const recordingOf = (io: Io, file: string | undefined) => {
  if (file === undefined) return {}
  // Opened when it is read: a stream that nobody listens to yet must not fail.
  const recording = () =>
    file === '-'
      ? { name: 'standard input', bytes: io.stdin }
      : { name: file, bytes: createReadStream(file) }
  return { recording }
}

/** Where rows go: lines for a reader, one document, or a document a line. */
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
    isBegun: (): boolean => shown > 0,
    show: async (batch: LedgerBatch): Promise<void> => {
      last = batch
      await send(io, json ? asJson(batch.rows) : asLines(batch.rows))
    },
    end: async (): Promise<void> => {
      if (follow || !last) return
      const text = json
        ? `${shown === 0 ? '{"events":[' : ''}\n],"summary":${JSON.stringify(summaryAsJson(last))}}\n`
        : renderSummary(last)
            .flatMap((sentence) => wrap(sentence, style))
            .map((line) => `${line}\n`)
            .join('')
      await send(io, text)
    },
  }
}
