import { PassThrough } from 'node:stream'
import { styleText } from 'node:util'
import type { Tone } from '../domain/health.ts'
import { controlSequence, type Io, isTerminal } from './io.ts'

/** What the terminal can show. */
interface Terminal {
  /** Columns; undefined if lines may have any length, in a pipe or a file. */
  readonly width: number | undefined
  /** Whether the terminal shows characters other than ASCII. */
  readonly isUnicode: boolean
  readonly hasColor: boolean
  paint(tone: Tone, text: string): string
  /** A sign of one column; the text next to it has the same meaning. */
  sign(tone: Tone): string
  /** The text in ASCII if the terminal shows nothing else. */
  plain(text: string): string
}

export type Style = ReturnType<typeof withLayout>

const MIN_WIDTH = 40

const FORMATS = {
  good: 'green',
  notice: 'yellow',
  bad: ['bold', 'red'],
  unknown: 'magenta',
  quiet: 'dim',
  strong: 'bold',
} as const

const SIGNS = {
  good: ['\u2713', '+'],
  notice: ['!', '!'],
  bad: ['\u2717', 'x'],
  unknown: ['?', '?'],
  quiet: ['\u00b7', '-'],
  strong: ['\u2022', '*'],
} as const

/**
 * Derived from the environment: colour on a terminal without NO_COLOR (https://no-color.org), or anywhere with
 * FORCE_COLOR; characters other than ASCII if the locale is UTF-8; lines as wide as the terminal.
 */
export const createStyle = ({ stdout, env }: Pick<Io, 'stdout' | 'env'>): Style => {
  const isWanted = (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb' && isTerminal(stdout)
  const isForced = !['', '0', 'false', undefined].includes(env['FORCE_COLOR'])
  const hasColor = isForced || isWanted
  const isUnicode = /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '')
  return withLayout({
    width: widthOf(stdout, env),
    isUnicode,
    hasColor,
    paint: (tone, text) => (hasColor ? colored(tone, text) : text),
    sign: (tone) => SIGNS[tone][isUnicode ? 0 : 1],
    plain: (text) => (isUnicode ? text : inAscii(text)),
  })
}

/** For a text of this width that is no terminal: ASCII without colour. */
export const inColumns = (columns: number): Style =>
  createStyle({ stdout: new PassThrough(), env: { COLUMNS: `${columns}` } })

/** The control sequences come from Node.js, without those of the text. */
const colored = (tone: Tone, text: string): string =>
  styleText([FORMATS[tone]].flat(), '\n', { validateStream: false })
    .replaceAll('\u001b[', controlSequence(''))
    .replace('\n', () => text)

const widthOf = (stdout: Io['stdout'], env: Io['env']): number | undefined => {
  const columns = 'columns' in stdout && isTerminal(stdout) ? Number(stdout.columns) : Number(env['COLUMNS'])
  return Number.isInteger(columns) && columns > 0 ? Math.max(MIN_WIDTH, columns) : undefined
}

const ASCII: Readonly<Record<string, string>> = {
  '\u2026': '...',
  '\u2013': '-',
  '\u2014': '-',
  '\u2192': '->',
  '\u2190': '<-',
  '\u2265': '>=',
  '\u2264': '<=',
  '\u00b7': '-',
  '\u00d7': 'x',
  '\u00b0': ' ',
  '\u00b5': 'u',
  '\u2019': "'",
  '\u23ce': '|',
}

const inAscii = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- everything beyond ASCII
  text.replaceAll(/[^\u0000-\u007f]/gu, (sign) => ASCII[sign] ?? '?')

/** The rows of `pairs`: a value with a tone is in its colour, and has its sign if it needs attention. */
export type Pairs = readonly (readonly [label: string, value: string, tone?: Tone | undefined])[]

export const withLayout = (terminal: Terminal) => {
  const { width, plain, paint } = terminal
  /** Wraps a text at blanks, in the characters that the terminal shows; a longer word is not broken. */
  const wrap = (text: string, indent = ''): readonly string[] => {
    const lines: string[] = []
    for (const paragraph of plain(text).split('\n')) {
      let line = ''
      for (const word of paragraph.split(' ')) {
        const longer = line === '' ? word : `${line} ${word}`
        if (line !== '' && width !== undefined && indent.length + longer.length > width) {
          lines.push(indent + line)
          line = word
        } else line = longer
      }
      lines.push((indent + line).trimEnd())
    }
    return lines
  }
  return {
    ...terminal,
    wrap,
    /** The same, each line in the tone. */
    paragraph: (tone: Tone, text: string, indent = ''): readonly string[] =>
      wrap(text, indent).map((line) => paint(tone, line)),
    /** Wraps a text below a mark, which takes the columns of the indent in the first line. */
    marked: (mark: string, text: string, indent: string): readonly string[] => {
      const [first = '', ...rest] = wrap(text, indent)
      return [`${mark}${first.slice(indent.length)}`, ...rest]
    },
    /** `label  value` lines: labels in one column, long values wrapped in the second column. */
    pairs: (rows: Pairs, indent = '  '): readonly string[] => {
      const longest = Math.max(0, ...rows.map(([label]) => label.length))
      const column = indent.length + longest + 2
      // If the labels leave no space, each value is printed below its label; so is one with a word that does not fit.
      const isNarrow = width !== undefined && width - column < 24
      return rows.flatMap(([label, value, tone]) => {
        const text = tone === 'bad' || tone === 'notice' ? `${terminal.sign(tone)} ${value}` : value
        const inTone = (line: string): string => (tone === undefined ? line : paint(tone, line))
        const needed = isNarrow ? text.length : Math.max(...text.split(/\s/).map((word) => word.length))
        const head = `${indent}${paint('quiet', plain(label).padEnd(longest))}`
        if (width !== undefined && column + needed > width) {
          return [head.trimEnd(), ...wrap(text, `${indent}  `).map(inTone)]
        }
        const [first = '', ...rest] = wrap(text, ' '.repeat(column))
        return [`${head}  ${inTone(first.trimStart())}`.trimEnd(), ...rest.map(inTone)]
      })
    },
  }
}
