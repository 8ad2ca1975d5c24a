import { createInterface } from 'node:readline/promises'
import { type Io, UsageError } from '../io.ts'

/**
 * Asks the operator on stderr to type `yes`. Returns false for any other input. Throws a UsageError if stdin is not a
 * terminal; it names the option that skips the confirmation.
 */
export const confirm = async (io: Io, question: string, option: string): Promise<boolean> => {
  requireTerminal(io, option)
  const lines = createInterface({ input: io.stdin, output: io.stderr })
  // The end of the input counts as no.
  const ended = new AbortController()
  const end = (): void => {
    ended.abort()
  }
  lines.on('close', end)
  lines.on('SIGINT', end)
  io.signal.addEventListener('abort', end, { once: true })
  try {
    const answer = await lines.question(`${question} Type yes: `, { signal: ended.signal })
    return answer.trim().toLowerCase() === 'yes'
  } catch (error) {
    if (!ended.signal.aborted) throw error
    io.stderr.write('\n')
    return false
  } finally {
    io.signal.removeEventListener('abort', end)
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
