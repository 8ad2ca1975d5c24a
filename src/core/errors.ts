import { redactLog } from './redact-log.ts'

/** The parts of an error that an operator reads at night, in the order in which he needs them. */
interface Account {
  /** What we were doing: "ask the node for its height at http://localhost:8080". */
  readonly doing: string
  /** What came of it, without figures that change from one attempt to the next. */
  readonly happened: string
  /** What was printed or sent, cut short. */
  readonly evidence?: string | undefined
  /** What to do about it. */
  readonly advice?: string | undefined
}

const tell = ({ doing, happened, evidence, advice }: Account): string =>
  [
    `Could not ${doing}: ${happened}`,
    ...(evidence === undefined || evidence.trim() === ''
      ? []
      : [`  it said: ${excerpt(evidence)}`]),
    ...(advice === undefined ? [] : [`  what to do: ${advice}`]),
  ].join('\n')

/** The operator's configuration is wrong. Nothing has been started; exit code 2. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

interface SourceErrorOptions {
  readonly timeout?: boolean
  readonly output?: string
  readonly cause?: unknown
}

/** We could not get the bytes: the node is down, the command is missing, the request timed out. */
export class SourceError extends Error {
  override name = 'SourceError'
  /** The same for every repetition of the same failure, so that it is logged once. */
  readonly summary: string
  readonly timeout: boolean
  /** All that a tool printed of its failure, for a parser that knows the tool. Never shown as it is. */
  readonly output: string
  constructor(account: Account, options: SourceErrorOptions = {}) {
    super(tell(account), options.cause === undefined ? undefined : { cause: options.cause })
    this.summary = `could not ${account.doing}: ${account.happened}`
    this.timeout = options.timeout ?? false
    this.output = options.output ?? ''
  }
}

/** We got the bytes and do not understand them: the node changed, or our parser is wrong. */
export class ParseError extends Error {
  override name = 'ParseError'
  readonly summary: string
  constructor(what: string, expected: string, came: string) {
    super(`Could not understand ${what}: expected ${expected}\n  it said: ${excerpt(came)}`)
    this.summary = `could not understand ${what}: expected ${expected}`
  }
}

/** Why an attempt of a collector failed. */
export const FAILURE_KINDS = ['source', 'parse', 'timeout', 'internal'] as const
export type FailureKind = (typeof FAILURE_KINDS)[number]

/** How a failure is counted. Anything that is not one of ours is a bug of ours: `internal`. */
export const kindOf = (error: Error): FailureKind => {
  if (error instanceof SourceError) return error.timeout ? 'timeout' : 'source'
  return error instanceof ParseError ? 'parse' : 'internal'
}

/** One line for the log: stable across repetitions where the error is one of ours. */
export const summaryOf = (error: Error): string =>
  error instanceof SourceError || error instanceof ParseError ? error.summary : error.message

const EXCERPT = 200

/** The beginning of a text on one line, without secrets and what a terminal would obey, for use in messages. */
export const excerpt = (text: string): string => {
  // Before it is cut: half a secret would not be recognised.
  const whole = redactLog(text.trim().slice(0, 8 * EXCERPT))
  const line = whole.slice(0, EXCERPT).replaceAll(/\s*\n\s*/g, ' ⏎ ')
  return whole.length > EXCERPT ? `${line}…` : line
}
