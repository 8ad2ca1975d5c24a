import { SourceError } from '../core/errors.ts'
import { JOURNAL_ADVICE } from './journal-errors.ts'

interface Program {
  readonly command: string
  readonly args: readonly string[]
}

interface Ended {
  readonly stderr?: unknown
  readonly exitCode?: number | undefined
  readonly signal?: string | undefined
  readonly isMaxBuffer: boolean
  readonly code?: string | undefined
}

/** What to tell of a program that ended without an answer. `most` is how many bytes it may print. */
export const failureOf = ({ command, args }: Program, ended: Ended, most: number): SourceError => {
  const doing = `run ${command} ${args[0] ?? ''}`.trim()
  const evidence = lastWords(textOf(ended.stderr))
  if (ended.code === 'ENOENT') {
    return new SourceError({
      doing,
      happened: `there is no ${command} on PATH`,
      advice: `install it, or correct PATH in the agent's unit`,
    })
  }
  if (ended.code === 'EACCES') {
    return new SourceError({
      doing,
      happened: `this user may not run ${command}`,
      advice: `give the agent's user the right to run it`,
    })
  }
  if (ended.isMaxBuffer) {
    return new SourceError({ doing, happened: `it printed more than ${most} bytes` })
  }
  const happened =
    ended.signal === undefined ? `exit code ${ended.exitCode ?? '?'}` : `killed by ${ended.signal}`
  return new SourceError(
    { doing, happened, evidence, advice: adviceFor(evidence) },
    { output: textOf(ended.stderr) },
  )
}

export const textOf = (output: unknown): string => (typeof output === 'string' ? output : '')

/** Tools say what went wrong at the end. */
const lastWords = (stderr: string): string => stderr.trim().split('\n').slice(-3).join('\n')

const adviceFor = (evidence: string): string | undefined => {
  if (/insufficient permissions|not seeing messages/i.test(evidence)) {
    return JOURNAL_ADVICE
  }
  if (/not been booted with systemd|Failed to connect to bus/i.test(evidence)) {
    return 'run the agent on the host itself, where systemd is process 1, and not in a container'
  }
  return undefined
}
