import { stripVTControlCharacters } from 'node:util'
import { InvalidArgumentError } from 'commander'
import { ParseError, SourceError } from '../../core/errors.ts'
import { minute, second } from '../../core/units.ts'
import type { Io } from '../io.ts'

interface Looking {
  /** The page, or one line of it, and whether the node itself was asked for it. */
  readonly look: () => Promise<Look>
  readonly seconds: number
}

export interface Look {
  readonly lines: readonly string[]
  readonly isOfNode: boolean
}

const HOME = '\u001b[H'
const REST_OF_LINE = '\u001b[K'
const REST_OF_SCREEN = '\u001b[J'
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'

/**
 * Asking the node itself runs its tools, one of which touches consensus' control socket and decrypts a
 * key: where no agent answers, that is done once a minute, whatever was asked for.
 */
const NODE_EVERY_MS = minute

/** The argument of --watch. */
export const readWatchSeconds = (text: string): number => {
  const seconds = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && seconds >= 1 && seconds <= 86_400) return seconds
  throw new InvalidArgumentError('expected a number of seconds from 1 to 86400, such as 5')
}

/** Looks again and again until the signal aborts: in place on a terminal, line after line elsewhere. */
export const watch = async (io: Io, { look, seconds }: Looking): Promise<void> => {
  const { stdout, clock, signal } = io
  const isTerminal = 'isTTY' in stdout && stdout.isTTY === true
  if (isTerminal) stdout.write(HIDE_CURSOR)
  try {
    while (!signal.aborted) {
      const seen = await lookOnce(look)
      if (signal.aborted) return
      stdout.write(isTerminal ? inPlace(seen.lines, sizeOf(stdout)) : `${seen.lines.join('\n')}\n`)
      const every = seconds * second
      await clock.sleep(seen.isOfNode ? Math.max(every, NODE_EVERY_MS) : every, signal)
    }
  } finally {
    if (isTerminal) stdout.write(SHOW_CURSOR)
  }
}

/** That the agent cannot be asked now is something to see, and no reason to end. */
const lookOnce = async (look: Looking['look']): Promise<Look> => {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof SourceError) && !(error instanceof ParseError)) throw error
    return { lines: error.message.split('\n'), isOfNode: false }
  }
}

interface Size {
  readonly rows: number
  readonly columns: number
}

const sizeOf = (stdout: Io['stdout']): Size => ({
  rows: ('rows' in stdout && Number(stdout.rows)) || 24,
  columns: ('columns' in stdout && Number(stdout.columns)) || 80,
})

/** What does not fit would scroll, and the page would no longer stand where it stood. */
const inPlace = (lines: readonly string[], { rows, columns }: Size): string => {
  const heights = lines.map((line) =>
    Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)),
  )
  const fits = (count: number, room: number): boolean =>
    heights.slice(0, count).reduce((sum, height) => sum + height, 0) <= room
  const room = rows - 1
  const most = fits(lines.length, room)
    ? lines.length
    : Math.max(0, heights.findLastIndex((_, index) => fits(index + 1, room - 1)) + 1)
  const left = lines.length - most
  const shown = [...lines.slice(0, most), ...(left === 0 ? [] : [`(${left} lines more)`])]
  return `${HOME}${shown.map((line) => `${line}${REST_OF_LINE}\n`).join('')}${REST_OF_SCREEN}`
}
