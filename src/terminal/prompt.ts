import { createInterface } from 'node:readline/promises'
import { linkAbort } from '../core/clock.ts'
import { type Io, UsageError } from './io.ts'

/** Asks the operator on stderr. Null at the end of the input and on Ctrl-C. */
export const prompt = async (io: Io, question: string): Promise<string | null> => {
  const lines = createInterface({ input: io.stdin, output: io.stderr })
  const ended = linkAbort(io.signal)
  lines.on('close', ended.abort)
  lines.on('SIGINT', ended.abort)
  try {
    return (await lines.question(question, { signal: ended.signal })).trim()
  } catch (error) {
    if (!ended.signal.aborted) throw error
    io.stderr.write('\n')
    return null
  } finally {
    ended.abort()
    lines.close()
  }
}

/**
 * Asks the operator on stderr to type `yes`. Returns false for any other input. Throws a UsageError if stdin is not a
 * terminal; it names the option that skips the confirmation.
 */
export const confirm = async (io: Io, question: string, option: string): Promise<boolean> => {
  requireTerminal(io, option)
  return (await prompt(io, `${question} Type yes: `))?.toLowerCase() === 'yes'
}

export const isTerminal = ({ stdin }: Io): boolean => 'isTTY' in stdin && stdin.isTTY === true

/** Throws a UsageError if stdin is not a terminal. */
export const requireTerminal = (io: Io, option: string): void => {
  if (isTerminal(io)) return
  throw new UsageError(
    `Cannot ask for confirmation: standard input is not a terminal. Use ${option} to continue without confirmation.`,
  )
}
