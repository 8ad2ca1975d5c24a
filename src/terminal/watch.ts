import { stripVTControlCharacters } from 'node:util'
import { InvalidArgumentError } from 'commander'
import { ifUnreadable } from '../core/errors.ts'
import { minute, second } from '../core/units.ts'
import { controlSequence, type Io, isTerminal } from './io.ts'
import { linesText } from './output.ts'

export interface WatchedPage {
  readonly lines: readonly string[]
  /** Whether it was read from the node and not from the agent. */
  readonly isFromNode: boolean
}

const HOME = controlSequence('H')
const REST_OF_LINE = controlSequence('K')
const REST_OF_SCREEN = controlSequence('J')
const HIDE_CURSOR = controlSequence('?25l')
const SHOW_CURSOR = controlSequence('?25h')

/**
 * Reading from the node runs its tools, one of which uses the control socket of consensus and decrypts a key:
 * without a running agent, the interval is at least a minute.
 */
const NODE_INTERVAL_MS = minute

/** The argument of --watch. */
export const readWatchSeconds = (text: string): number => {
  const seconds = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && seconds >= 1 && seconds <= 86_400) return seconds
  throw new InvalidArgumentError('expected a number of seconds from 1 to 86400, such as 5')
}

/** Renders periodically until the signal aborts: in place on a terminal, otherwise line after line. */
export const watch = async (io: Io, seconds: number, render: () => Promise<WatchedPage>): Promise<void> => {
  const { stdout, clock, signal } = io
  const isInPlace = isTerminal(stdout)
  if (isInPlace) stdout.write(HIDE_CURSOR)
  try {
    while (!signal.aborted) {
      // An error of the agent is shown in place of the page; the command continues.
      const seen = await render().catch(
        ifUnreadable(({ message }) => ({ lines: message.split('\n'), isFromNode: false })),
      )
      if (signal.aborted) return
      stdout.write(isInPlace ? inPlace(seen.lines, stdout) : linesText(seen.lines))
      const every = seconds * second
      await clock.sleep(seen.isFromNode ? Math.max(every, NODE_INTERVAL_MS) : every, signal)
    }
  } finally {
    if (isInPlace) stdout.write(SHOW_CURSOR)
  }
}

/** Cuts the page to the height of the terminal: a longer page would scroll. */
const inPlace = (lines: readonly string[], stdout: Io['stdout']): string => {
  const rows = ('rows' in stdout && Number(stdout.rows)) || 24
  const columns = ('columns' in stdout && Number(stdout.columns)) || 80
  const heights = lines.map((line) => Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)))
  const fits = (count: number, room: number): boolean =>
    heights.slice(0, count).reduce((sum, height) => sum + height, 0) <= room
  const room = rows - 1
  const most = fits(lines.length, room)
    ? lines.length
    : Math.max(0, heights.findLastIndex((_, index) => fits(index + 1, room - 1)) + 1)
  const left = lines.length - most
  const shown = [...lines.slice(0, most), ...(left === 0 ? [] : [`(${left} more lines)`])]
  return `${HOME}${shown.map((line) => `${line}${REST_OF_LINE}\n`).join('')}${REST_OF_SCREEN}`
}
