import { createInterface } from 'node:readline/promises'
import type { Io } from '../io.ts'
import { UsageError } from '../usage-error.ts'

/**
 * Asks on standard error for `yes`, all of the word. Throws a UsageError where nobody is there to answer:
 * the option that answers beforehand is named in it.
 */
export const askYes = async (io: Io, question: string, option: string): Promise<boolean> => {
  mustBeAskable(io, option)
  const lines = createInterface({ input: io.stdin, output: io.stderr })
  // The end of the input is an answer, too.
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

/** Throws a UsageError where nobody is there to answer. */
export const mustBeAskable = (io: Io, option: string): void => {
  if ('isTTY' in io.stdin && io.stdin.isTTY === true) return
  throw new UsageError(
    `Nobody can be asked here: standard input is no terminal. With ${option} it is done unasked.`,
  )
}
