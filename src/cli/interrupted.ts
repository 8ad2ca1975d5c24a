import { type ExitCode, type Io, READER_GONE } from './io.ts'

/** Whether Ctrl-C has come, or what is like it; a reader that has had enough is none. */
export const isInterrupted = ({ signal }: Pick<Io, 'signal'>): boolean =>
  signal.aborted && signal.reason !== READER_GONE

/**
 * Gathers what a page is made of. Undefined where Ctrl-C came first: what was found until then would look
 * like all that there is. That is then said, and the exit code given.
 */
export const gathered = async <T>(
  io: Io,
  exit: (code: ExitCode) => void,
  gather: () => Promise<T>,
): Promise<T | undefined> => {
  try {
    const told = await gather()
    if (!io.signal.aborted) return told
  } catch (error) {
    // What is broken off fails, each thing in its own way.
    if (!io.signal.aborted) throw error
  }
  sayInterrupted(io, exit, { isBegun: false })
  return undefined
}

/** `isBegun`: some of it stands on the page already. */
export const sayInterrupted = (
  io: Io,
  exit: (code: ExitCode) => void,
  { isBegun }: { readonly isBegun: boolean },
): void => {
  io.stderr.write(
    isBegun
      ? 'Interrupted; what was printed is not all.\n'
      : 'Interrupted; nothing was found out.\n',
  )
  exit(1)
}
