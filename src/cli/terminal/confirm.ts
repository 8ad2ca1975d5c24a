import { createInterface } from 'node:readline/promises'
import { linkAbort } from '../../core/clock.ts'
import { type Io, UsageError } from '../io.ts'

/**
 * Asks the operator on stderr to type `yes`. Returns false for any other input. Throws a UsageError if stdin is not a
 * terminal; it names the option that skips the confirmation.
 */
export const confirm = async (io: Io, question: string, option: string): Promise<boolean> => {
  requireTerminal(io, option)
  const lines = createInterface({ input: io.stdin, output: io.stderr })
  // The end of the input counts as no.
  const ended = linkAbort(io.signal)
  lines.on('close', ended.abort)
  lines.on('SIGINT', ended.abort)
  try {
    const answer = await lines.question(`${question} Type yes: `, { signal: ended.signal })
    return answer.trim().toLowerCase() === 'yes'
  } catch (error) {
    if (!ended.signal.aborted) throw error
    io.stderr.write('\n')
    return false
  } finally {
    ended.abort()
    lines.close()
  }
}

/** Throws a UsageError if stdin is not a terminal. */
export const requireTerminal = (io: Io, option: string): void => {
  if ('isTTY' in io.stdin && io.stdin.isTTY === true) return
  throw new UsageError(
    `Cannot ask for confirmation: standard input is not a terminal. Use ${option} to continue without confirmation.`,
  )
}
