import { second } from '../core/units.ts'
import { controlSequence, type Io, isTerminal } from './io.ts'

export type Progress = ReturnType<typeof createProgress>

/** Moves to the first column and clears the line. */
export const START_OF_LINE = controlSequence('G') + controlSequence('K')
const DELAY_MS = second
const INTERVAL_MS = second / 5

/** One line on stderr that is overwritten; nothing if stderr is a file or a pipe. */
export const createProgress = ({ stderr, clock }: Pick<Io, 'stderr' | 'clock'>) => {
  const startedAt = clock.elapsed()
  let shownAt = 0
  let isShown = false
  return {
    /** Shows the current step; only on a terminal, and only after the first second. */
    show: (text: string): void => {
      const now = clock.elapsed()
      if (!isTerminal(stderr) || now - startedAt < DELAY_MS || now - shownAt < INTERVAL_MS) return
      const columns = 'columns' in stderr ? Number(stderr.columns) || 80 : 80
      stderr.write(`${START_OF_LINE}${text.slice(0, columns - 1)}`)
      shownAt = now
      isShown = true
    },
    end: (): void => {
      if (isShown) stderr.write(START_OF_LINE)
      isShown = false
    },
  }
}
