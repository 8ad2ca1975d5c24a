import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { INCOMPLETE, InterruptedError, type Io, isInterrupted, UsageError, writeAll } from '../../terminal/io.ts'
import { createProgress } from '../../terminal/progress.ts'
import type { Tone } from '../../domain/health.ts'
import { createStyle, type Style } from '../../terminal/style.ts'
import { type ClockStep, describeStep } from '../../sources/journal-order.ts'
import { redactLog } from '../../core/redaction/redact-log.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { type LogLine, parseLogLine } from '../../parsers/log-line.ts'
import { readJournal } from '../../agent/journal-reader.ts'
import { redactEntry, type RedactedLine } from '../../agent/log-text.ts'
import { type LogUnits, logUnits } from '../../config/log-units.ts'
import { hintFor } from '../../core/suggest.ts'
import { withHost } from '../shared/with-host.ts'

interface Options {
  readonly service: string
  readonly follow?: true
  readonly since?: number
  readonly until?: number
  readonly lines?: number
  readonly grep?: string
  readonly output: 'short' | 'raw' | 'json'
}

const NEWEST = 50

export const printLogs = async ({ io, exit, options, host }: ConfiguredContext<Options>): Promise<void> => {
  const { service: word, follow = false, since, until, grep, output } = options
  const { clock, signal } = io
  const progress = createProgress(io)
  await withHost(host, async (exec, readPrefix) => {
    const units = logUnits(host.config, (await readPrefix(signal)).word)
    const labels = labelsOf(units)
    const name = word.replace(/\.service$/, '').toLowerCase()
    const label = labels.get(name) ?? ''
    const unit = units.get(label)
    if (unit === undefined) {
      const known = `Services: ${[...units.keys()].join(', ')}`
      throw new UsageError(`no service '${word}'${hintFor(name, labels.keys(), known)}`)
    }
    const newest = options.lines ?? (since === undefined && until === undefined ? NEWEST : undefined)
    const print = printer(io, label, output)
    let shown = 0
    const steps: ClockStep[] = []
    progress.show(`Reading the log of ${unit}`)
    try {
      const wanted = { unit, since, until, newest, grep, follow }
      for await (const { entries, steps: more } of readJournal({ exec, clock, signal }, wanted)) {
        progress.end()
        steps.push(...more)
        await print(entries.map(shownLine))
        shown += entries.length
        if (shown === 0) progress.show(`Reading the log of ${unit}: nothing yet`)
      }
    } catch (error) {
      // An interruption is no failure.
      if (!signal.aborted) throw error
    }
    progress.end()
    if (!follow && isInterrupted(io)) throw new InterruptedError(shown > 0 ? INCOMPLETE : undefined)
    if (shown === 0 && !signal.aborted) {
      io.stderr.write(`The journal has no matching lines of ${unit}${rangeText(options)}.\n`)
    }
    for (const step of steps) {
      io.stderr.write(`Note: ${describeStep(step)}. Lines are in the order in which they were written.\n`)
    }
    exit(0)
  }).finally(progress.end)
}

/** The range as it was understood: `yesterday` is a time, in UTC. */
const rangeText = ({ since, until }: Pick<Options, 'since' | 'until'>): string =>
  (since === undefined ? '' : ` since ${new Date(since).toISOString()}`) +
  (until === undefined ? '' : ` until ${new Date(until).toISOString()}`)

const printer = (io: Io, label: string, output: Options['output']) => {
  const style = createStyle(io)
  const render = (line: ShownLine): string => {
    if (output === 'json') return renderJson(label, line)
    return output === 'raw' ? `${line.raw}\n` : renderShort(line, style)
  }
  return (lines: readonly ShownLine[]): Promise<void> => writeAll(io, lines.map(render).join(''))
}

/** Lines of consensus with complete certificates are longer than a screen. */
const MAX_LENGTH = 2000

const TONES: Readonly<Record<string, Tone>> = { ERROR: 'bad', WARN: 'notice', DEBUG: 'quiet', TRACE: 'quiet' }

/** `TIME LEVEL message key=value`, wrapped. */
const renderShort = (line: ShownLine, style: Style): string => {
  const { at, level, by, from } = line
  const head = `${new Date(at).toISOString()} ${oneLine(level ?? '').padEnd(5)} `
  const said = [by === null ? line.message : `${by}: ${line.message}`, ...pairsOf(line)].join(' ')
  const text = style.plain(cut(oneLine(from === null ? said : `${said} (${from})`)))
  const tone = TONES[level ?? '']
  return style
    .marked('', head + text, '  ')
    .map((part) => `${tone ? style.paint(tone, part) : part}\n`)
    .join('')
}

const renderJson = (service: string, { at, raw, ...line }: ShownLine): string => {
  const { level, by, message, from, fields } = line
  const time = new Date(at).toISOString()
  return `${JSON.stringify({ time, service, level, by, message, fields, from, raw })}\n`
}

const pairsOf = ({ fields }: ShownLine): readonly string[] =>
  Object.entries(fields).map(([key, value]) =>
    /^[^\s"=]+$/.test(value) ? `${key}=${value}` : `${key}=${JSON.stringify(value)}`,
  )

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' \u23ce ').trimEnd()

const cut = (text: string): string =>
  text.length <= MAX_LENGTH
    ? text
    : `${text.slice(0, MAX_LENGTH)}\u2026 (${text.length - MAX_LENGTH} more characters: -o raw shows them)`

/** A line with its parts, all of them redacted. */
type ShownLine = LogLine & RedactedLine

const shownLine = (entry: JournalEntry): ShownLine => {
  const redacted = redactEntry(entry)
  const { level, message, fields, from } = parseLogLine(redacted.raw)
  return {
    ...redacted,
    level: redactPart(level ?? levelOf(entry.fields['PRIORITY'])),
    message: redactLog(message),
    fields: Object.fromEntries(Object.entries(fields).map(([key, value]) => [redactLog(key), redactLog(value)])),
    from: redactPart(from),
  }
}

/** Parts are redacted again: without its quotes a text can match other patterns. */
const redactPart = (text: string | null): string | null => (text === null ? null : redactLog(text))

/** journald stores `info` for programs that print no priority: 6 is therefore no level. */
const levelOf = (priority: string | undefined): string | null => {
  if (priority === undefined || !/^[0-5]$/.test(priority)) return null
  return Number(priority) <= 3 ? 'ERROR' : 'WARN'
}

/** The labels by what an operator may write: the label, or the unit with or without prefix and suffix. */
const labelsOf = (units: LogUnits): ReadonlyMap<string, string> =>
  new Map(
    [...units].flatMap(([label, unit]) => {
      const name = unit.replace(/\.service$/, '')
      return [label, name, name.slice(name.indexOf('-') + 1)].map((one) => [one.toLowerCase(), label] as const)
    }),
  )
