import { openLogs, type ShownLine } from './logs.ts'
import { nodeConfigOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import {
  type Io,
  isInterrupted,
  reportInterrupted,
  writeAll,
  type CommandContext,
  sourceContext,
} from '../../terminal/io.ts'
import { createProgress } from '../../terminal/progress.ts'
import type { Tone } from '../../domain/health.ts'
import { createStyle, type Style, wrap } from '../../terminal/style.ts'
import { type ClockStep, describeStep } from '../../sources/journal-order.ts'

interface Options extends ConfigOptions {
  readonly service: string
  readonly follow?: true
  readonly since?: number
  readonly until?: number
  readonly lines?: number
  readonly grep?: string
  readonly output: 'short' | 'raw' | 'json'
}

const NEWEST = 50

export const printLogs = async ({ io, exit, options, command }: CommandContext<Options>): Promise<void> => {
  const { service: word, follow = false, since, until, grep, output } = options
  if (follow && until !== undefined) {
    command.error('error: --follow and --until exclude each other', { exitCode: 2 })
  }
  const { config } = nodeConfigOf(io, options)
  const { signal } = io
  const logs = openLogs({ config, ...sourceContext(io) })
  const progress = createProgress(io)
  try {
    const found = await logs.find(word)
    if (!('service' in found)) {
      const hint = found.nearest === undefined ? '' : `\n(Did you mean ${found.nearest}?)`
      const known = `services: ${found.labels.join(', ')}`
      command.error(`error: no service '${word}': ${known}${hint}`, { exitCode: 2 })
      return
    }
    const { label, unit } = found.service
    const newest = options.lines ?? (since === undefined && until === undefined ? NEWEST : undefined)
    const print = printer(io, label, output)
    let shown = 0
    const steps: ClockStep[] = []
    progress.show(`Reading the log of ${unit}`)
    for await (const { lines, steps: more } of logs.read({ unit, since, until, newest, grep, follow })) {
      progress.end()
      steps.push(...more)
      await print(lines)
      shown += lines.length
      if (shown === 0) progress.show(`Reading the log of ${unit}: nothing yet`)
    }
    progress.end()
    if (!follow && isInterrupted(io)) {
      reportInterrupted(io, exit, { hasOutput: shown > 0 })
      return
    }
    if (shown === 0 && !signal.aborted) {
      io.stderr.write(`The journal has no matching lines of ${unit}${rangeText(options)}.\n`)
    }
    for (const step of steps) {
      io.stderr.write(`Note: ${describeStep(step)}. Lines are in the order in which they were written.\n`)
    }
    exit(0)
  } finally {
    progress.end()
    logs.close()
  }
}

/** The range as it was understood: `yesterday` is a time, in UTC. */
const rangeText = ({ since, until }: Pick<Options, 'since' | 'until'>): string =>
  [
    ...(since === undefined ? [] : [` since ${new Date(since).toISOString()}`]),
    ...(until === undefined ? [] : [` until ${new Date(until).toISOString()}`]),
  ].join('')

const printer = (io: Io, label: string, output: Options['output']) => {
  const style = createStyle(io)
  const render = (line: ShownLine): string => {
    if (output === 'json') return renderJson(label, line)
    return output === 'raw' ? renderRaw(line) : renderShort(line, style)
  }
  return (lines: readonly ShownLine[]): Promise<void> => writeAll(io, lines.map(render).join(''))
}

/** Lines of consensus with complete certificates are longer than a screen. */
const MAX_LENGTH = 2000

const TONES: Readonly<Record<string, Tone>> = {
  ERROR: 'bad',
  WARN: 'notice',
  DEBUG: 'quiet',
  TRACE: 'quiet',
}

/** `TIME LEVEL message key=value`, wrapped. */
const renderShort = (line: ShownLine, style: Style): string => {
  const { at, level, by, from } = line
  const head = `${new Date(at).toISOString()} ${oneLine(level ?? '').padEnd(5)} `
  const said = [by === null ? line.message : `${by}: ${line.message}`, ...pairsOf(line)].join(' ')
  const text = style.plain(cut(oneLine(from === null ? said : `${said} (${from})`)))
  const [first = '', ...rest] = wrap(head + text, style, '  ')
  const shown = [first.slice(2), ...rest]
  const tone = TONES[level ?? '']
  return shown.map((part) => `${tone ? style.paint(tone, part) : part}\n`).join('')
}

/** The unchanged line. */
const renderRaw = ({ raw }: ShownLine): string => `${raw}\n`

const renderJson = (service: string, { at, raw, ...line }: ShownLine): string => {
  const { level, by, message, from, fields } = line
  const time = new Date(at).toISOString()
  const document = JSON.stringify({ time, service, level, by, message, fields, from, raw })
  return `${document}\n`
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
