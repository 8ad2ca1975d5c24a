import { ParseError, SourceError } from '../../core/errors.ts'
import { toJson } from '../../core/json.ts'
import type { Io } from '../../cli/io.ts'

/** One key of several with which it did not go well. */
export interface Failed {
  readonly key: string
  readonly error: Error
}

/** Says one failure among several; what is no failure of the world is a bug and goes on. */
export const complain = (io: Io, error: Error): void => {
  assertOurs(error)
  io.stderr.write(`${error.message}\n`)
}

export const asJson = ({
  done,
  failed,
}: {
  readonly done: readonly unknown[]
  readonly failed: readonly Failed[]
}): string => {
  for (const { error } of failed) assertOurs(error)
  const failures = failed.map(({ key, error }) => ({ key, error: error.message }))
  return `${JSON.stringify(toJson({ done, failed: failures }), undefined, 2)}\n`
}

const assertOurs = (error: Error): void => {
  if (!(error instanceof SourceError) && !(error instanceof ParseError)) throw error
}
