import { second } from '../../core/units.ts'
import type { Io } from '../io.ts'

export interface Progress {
  /** Says what we are at; shown on a terminal only, and not before a second has passed. */
  say(text: string): void
  /** Takes the line away again. */
  end(): void
}

const CLEAR = '\r\u001b[K'
const PATIENCE_MS = second
const EVERY_MS = second / 5

/** One line on standard error that is written over; nothing where standard error is a file or a pipe. */
export const createProgress = ({ stderr, clock }: Pick<Io, 'stderr' | 'clock'>): Progress => {
  const isTerminal = 'isTTY' in stderr && stderr.isTTY === true
  const startedAt = clock.elapsed()
  let saidAt = 0
  let isShown = false
  return {
    say: (text) => {
      const now = clock.elapsed()
      if (!isTerminal || now - startedAt < PATIENCE_MS || now - saidAt < EVERY_MS) return
      const columns = 'columns' in stderr ? Number(stderr.columns) || 80 : 80
      stderr.write(`${CLEAR}${text.slice(0, columns - 1)}`)
      saidAt = now
      isShown = true
    },
    end: () => {
      if (isShown) stderr.write(CLEAR)
      isShown = false
    },
  }
}
