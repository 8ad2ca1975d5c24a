import { styleText } from 'node:util'
import type { Io } from '../io.ts'

/** How bad it is. */
export type Tone = 'good' | 'notice' | 'bad' | 'unknown' | 'quiet' | 'strong'

/** What the reader's terminal can show. */
export interface Style {
  /** Columns; undefined where lines may be of any length: in a pipe or a file. */
  readonly width: number | undefined
  /** Whether signs beyond ASCII come out right. */
  readonly isUnicode: boolean
  paint(tone: Tone, text: string): string
  /** A sign of one column; the word beside it says the same. */
  sign(tone: Tone): string
  /** A text of ours or of the node's as this terminal can show it. */
  plain(text: string): string
}

const NARROWEST = 40

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
 * By what the environment says: colour on a terminal without NO_COLOR (https://no-color.org), or
 * anywhere with FORCE_COLOR; signs beyond ASCII where the locale is UTF-8; lines as wide as the terminal.
 */
export const createStyle = (
  { stdout, env }: Pick<Io, 'stdout' | 'env'>,
  options: { readonly color?: boolean } = {},
): Style => {
  const isTerminal = 'isTTY' in stdout && stdout.isTTY === true
  const isWanted = (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb' && isTerminal
  const isForced = !['', '0', 'false', undefined].includes(env['FORCE_COLOR'])
  const hasColor = options.color !== false && (isForced || isWanted)
  const isUnicode = /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '')
  return {
    width: widthOf(stdout, env, isTerminal),
    isUnicode,
    paint: (tone, text) =>
      hasColor ? styleText([FORMATS[tone]].flat(), text, { validateStream: false }) : text,
    sign: (tone) => SIGNS[tone][isUnicode ? 0 : 1],
    plain: (text) => (isUnicode ? text : inAscii(text)),
  }
}

const widthOf = (stdout: Io['stdout'], env: Io['env'], isTerminal: boolean): number | undefined => {
  const columns =
    'columns' in stdout && isTerminal ? Number(stdout.columns) : Number(env['COLUMNS'])
  return Number.isInteger(columns) && columns > 0 ? Math.max(NARROWEST, columns) : undefined
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
