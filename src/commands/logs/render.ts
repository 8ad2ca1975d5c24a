import { sanitize } from '../../core/sanitize.ts'
import type { ShownLine } from './logs.ts'
import { wrap } from '../../cli/terminal/layout.ts'
import type { Style, Tone } from '../../cli/terminal/style.ts'

/** Lines of consensus with whole certificates in them are longer than any screen. */
const LONGEST = 2000

const TONES: Readonly<Record<string, Tone>> = {
  ERROR: 'bad',
  WARN: 'notice',
  DEBUG: 'quiet',
  TRACE: 'quiet',
}

/** `TIME LEVEL message key=value`, as many screen lines as it takes. */
export const renderShort = (line: ShownLine, style: Style): string => {
  const { at, level, by, from } = line
  const head = `${new Date(at).toISOString()} ${oneLine(sanitize(level ?? '')).padEnd(5)} `
  const said = [by === null ? line.message : `${by}: ${line.message}`, ...pairsOf(line)].join(' ')
  const text = style.plain(cut(oneLine(sanitize(from === null ? said : `${said} (${from})`))))
  const [first = '', ...rest] = wrap(head + text, style, '  ')
  const shown = [first.slice(2), ...rest]
  const tone = TONES[level ?? '']
  return shown.map((part) => `${tone ? style.paint(tone, part) : part}\n`).join('')
}

/** The line itself. */
export const renderRaw = ({ raw }: ShownLine): string => `${sanitize(raw)}\n`

export const renderJson = (service: string, { at, raw, ...line }: ShownLine): string => {
  const { level, by, message, from, fields } = line
  const time = new Date(at).toISOString()
  const document = JSON.stringify({ time, service, level, by, message, fields, from, raw })
  return `${sanitize(document)}\n`
}

const pairsOf = ({ fields }: ShownLine): readonly string[] =>
  Object.entries(fields).map(([key, value]) =>
    /^[^\s"=]+$/.test(value) ? `${key}=${value}` : `${key}=${JSON.stringify(value)}`,
  )

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' \u23ce ').trimEnd()

const cut = (text: string): string =>
  text.length <= LONGEST
    ? text
    : `${text.slice(0, LONGEST)}\u2026 (${text.length - LONGEST} more signs: -o raw shows them)`
