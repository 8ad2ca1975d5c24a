import { createInterface } from 'node:readline/promises'
import { ConfigError } from '../../core/errors.ts'
import type { Io } from '../io.ts'

/**
 * Asks on standard error for `yes`, all of the word. Throws a ConfigError where nobody is there to answer:
 * the option that answers beforehand is named in it.
 */
export const askYes = async (io: Io, question: string, option: string): Promise<boolean> => {
  if (!('isTTY' in io.stdin && io.stdin.isTTY === true)) {
    throw new ConfigError(
      `Nobody can be asked here: standard input is no terminal. With ${option} it is done unasked.`,
    )
  }
  const lines = createInterface({ input: io.stdin, output: io.stderr })
  try {
    const answer = await lines.question(`${question} Type yes: `, { signal: io.signal })
    return answer.trim().toLowerCase() === 'yes'
  } finally {
    lines.close()
  }
}
