import { createInterface } from 'node:readline/promises'
import { type Io, isTerminal, printable, terminalOf, UsageError } from './io.ts'

/** Asks one question on stderr. Null at the end of the input and on Ctrl-C. */
type Ask = (question: string) => Promise<string | null>

/** Runs a dialogue. Lines that are pasted at once answer the questions one after the other. */
export const withDialogue = async <T>(io: Io, dialogue: (ask: Ask) => Promise<T>): Promise<T> => {
  const lines = createInterface({ input: io.stdin, output: terminalOf(io.stderr), signal: io.signal })
  const answers = lines[Symbol.asyncIterator]()
  let isOpen = true
  lines.once('close', () => {
    isOpen = false
  })
  lines.on('SIGINT', () => lines.close())
  try {
    return await dialogue(async (question) => {
      if (io.signal.aborted) return null
      lines.setPrompt(printable(question))
      // The input can end before the lines that came are answered: from Node 24 on, prompt() throws then.
      if (isOpen) lines.prompt()
      else io.stderr.write(question)
      const answer = await answers.next()
      if (answer.done !== true) return answer.value.trim()
      io.stderr.write('\n')
      return null
    })
  } finally {
    lines.close()
  }
}

/**
 * Asks the operator on stderr to type `yes`. Returns false for any other input. Throws a UsageError if stdin is not a
 * terminal; it names the option that skips the confirmation.
 */
export const confirm = async (io: Io, question: string, option: string): Promise<boolean> => {
  requireTerminal(io, option)
  return (await withDialogue(io, (ask) => ask(`${question} Type yes: `)))?.toLowerCase() === 'yes'
}

export const requireTerminal = (io: Io, option: string): void => {
  if (isTerminal(io.stdin)) return
  throw new UsageError(
    `Cannot ask for confirmation: standard input is not a terminal. Use ${option} to continue without confirmation.`,
  )
}
