import { statSync } from 'node:fs'
import { join } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { codeOf } from './missing.ts'
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

interface Limits {
  /** The search path for programs. */
  readonly path: string
  /** The number of bytes that the program may print. */
  readonly most: number
}

/** The error for a program that ended without a result. */
export const failureOf = (
  { command, args }: Program,
  ended: Ended,
  { path, most }: Limits,
): SourceError => {
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
    const unsearchable = unsearchableIn(path)
    if (unsearchable.length > 0 && !command.includes('/') && !isOnPath(command, path)) {
      return new SourceError({
        doing,
        happened: `${command} was not found on PATH; these directories cannot be searched by this user: ${unsearchable.join(', ')}`,
        advice: `run the command as a user who can search them (sudo), or install ${command} in /usr/local/bin`,
      })
    }
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

/** The system reports EACCES for the whole search when one directory of it cannot be searched. */
const unsearchableIn = (path: string): readonly string[] =>
  path.split(':').filter((directory) => {
    try {
      statSync(`${directory}/.`)
      return false
    } catch (error) {
      return codeOf(error) === 'EACCES'
    }
  })

/** Whether a directory that can be searched has the program, executable or not. */
const isOnPath = (command: string, path: string): boolean =>
  path.split(':').some((directory) => {
    try {
      return statSync(join(directory, command)).isFile()
    } catch {
      return false
    }
  })

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
