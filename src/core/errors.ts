import { redactLog } from './redaction/redact-log.ts'
import { redact } from './redaction/redact.ts'

/** The parts of an error message, in the order in which an operator needs them. */
export interface ErrorDetails {
  /** What failed: "request http://localhost:8080". */
  readonly doing: string
  /** What happened, without numbers that change between attempts. */
  readonly happened: string
  /** The output of the program or server; shortened in the message. */
  readonly evidence?: string | undefined
  readonly advice?: string | undefined
}

const formatError = ({ doing, happened, evidence, advice }: ErrorDetails): string =>
  [
    `Could not ${doing}: ${happened}`,
    ...(evidence === undefined || evidence.trim() === '' ? [] : [`  output: ${excerpt(evidence)}`]),
    ...(advice === undefined ? [] : [`  what to do: ${advice}`]),
  ].join('\n')

/** The configuration or command line is invalid. Nothing has been started; exit code 2. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

type SourceErrorCode =
  | 'journal not permitted'
  | 'journal position unusable'
  | 'journalctl silent'
  | 'no program'
  | 'program not permitted'
  | 'output limit'
  | 'killed'

interface SourceErrorOptions {
  readonly code?: SourceErrorCode | undefined
  readonly timeout?: boolean
  readonly output?: string
  readonly cause?: unknown
}

/** Data could not be read: the node is down, a command is missing, a request timed out. */
export class SourceError extends Error {
  override name = 'SourceError'
  /** Equal for every repetition of the same failure, so that it is logged once. */
  readonly summary: string
  /** What happened, without what was attempted. */
  readonly happened: string
  readonly advice: string | undefined
  readonly code: SourceErrorCode | undefined
  readonly timeout: boolean
  /** The complete error output of a tool, for its parser. Never shown as is. */
  readonly output: string
  constructor(account: ErrorDetails, options: SourceErrorOptions = {}) {
    super(formatError(account), options.cause === undefined ? undefined : { cause: options.cause })
    this.summary = `could not ${account.doing}: ${account.happened}`
    this.happened = account.happened
    this.advice = account.advice
    this.code = options.code
    this.timeout = options.timeout ?? false
    this.output = options.output ?? ''
  }
}

/** Data could not be parsed: the node's format changed, or the parser has a bug. */
export class ParseError extends Error {
  override name = 'ParseError'
  readonly summary: string
  constructor(what: string, expected: string, came: string) {
    super(`Could not parse ${what}: expected ${expected}\n  input: ${excerpt(came)}`)
    this.summary = `could not parse ${what}: expected ${expected}`
  }
}

/** A file that may not be read as one, in the form of the errors of Node.js. */
export class FileError extends Error {
  override name = 'FileError'
  /** EFTYPE is that of BSD: Linux has no code for a file of the wrong type. */
  readonly code: 'EFTYPE' | 'EISDIR' | 'EFBIG' | 'ETIMEDOUT'
  /** What happened, without the path. */
  readonly happened: string
  constructor(code: FileError['code'], path: string, happened: string) {
    super(`${code}: ${happened}, '${path}'`)
    this.code = code
    this.happened = happened
  }
}

/** Whether the error is a bug of the agent: neither a source nor its content is the cause. */
export const isInternal = (error: Error): boolean => !(error instanceof SourceError || error instanceof ParseError)

/** One line for the log, equal for repetitions of a SourceError or ParseError. */
export const summaryOf = (error: Error): string =>
  error instanceof SourceError || error instanceof ParseError ? error.summary : error.message

const EXCERPT = 200

/** The beginning of a text on one line, for messages, without secrets and terminal control sequences. */
export const excerpt = (text: string): string => {
  // Redact before truncating: half a secret would not be recognized.
  const whole = redactLog(text.trim().slice(0, 8 * EXCERPT))
  const line = whole.slice(0, EXCERPT).replaceAll(/\s*\n\s*/g, ' ⏎ ')
  return whole.length > EXCERPT ? `${line}…` : line
}

/** Characters of a text to redact: a line may have a megabyte, and only its beginning is shown. */
const MAX_REDACTED = 8192

/** The same for a text of another program, which may also contain home directories and credentials in addresses. */
export const redactedExcerpt = (text: string): string => excerpt(redact(text.slice(0, MAX_REDACTED)))

/** The system error code: `EACCES`; `otherwise` if the error has none. */
export const errorCode = (error: unknown, otherwise = 'it failed'): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : otherwise

/** Limits of the host, the unit or the shell that a process can reach in any operation. */
const HOST_LIMITS: Readonly<Record<string, { readonly happened: string; readonly advice: string }>> = {
  EMFILE: {
    happened: 'the limit of open files of this process is reached (RLIMIT_NOFILE)',
    advice: 'raise the limit: `LimitNOFILE=65536` with `systemctl edit` of the unit, or `ulimit -n 65536` in a shell',
  },
  ENFILE: {
    happened: 'the limit of open files of the host is reached (fs.file-max)',
    advice: 'find the program with many open files (`lsof`), or raise fs.file-max with sysctl',
  },
  ENOMEM: {
    happened: 'the host or the unit has no memory left for it (ENOMEM)',
    advice:
      'free memory, or raise `MemoryMax=` and `LimitAS=` with `systemctl edit` of the unit, or `ulimit -v` in a shell',
  },
}

const MORE_PROCESSES = {
  happened: 'the limit of processes and threads of this user or unit is reached (EAGAIN)',
  advice: 'raise the limit: `TasksMax=` and `LimitNPROC=` with `systemctl edit` of the unit, or `ulimit -u` in a shell',
}

const BY_CODE: Readonly<Record<string, { readonly happened: string; readonly advice?: string }>> = {
  ENOENT: { happened: 'there is no such file or directory', advice: 'check the path' },
  ENOTDIR: { happened: 'a part of the path is not a directory' },
  EACCES: {
    happened: 'permission denied: this user may not access it',
    advice: 'run the command as root, or as the owner of the directory',
  },
  EPERM: { happened: 'the operation is not permitted', advice: 'run the command as root' },
  EROFS: { happened: 'the file system is read-only', advice: 'use another file system, or mount it read-write' },
  ENOSPC: { happened: 'the disk is full', advice: 'free space and run the command again' },
  EDQUOT: { happened: 'the disk quota is used up', advice: 'free space and run the command again' },
  EIO: { happened: 'the disk has failed', advice: 'check `dmesg`; use another disk' },
  EEXIST: { happened: 'the file already exists, and files are never overwritten' },
  EBUSY: { happened: 'it is in use' },
  ENOTEMPTY: { happened: 'the directory is not empty' },
  EINVAL: { happened: 'the file system does not support this operation' },
  ENOTSUP: { happened: 'the file system does not support this operation' },
  EOPNOTSUPP: { happened: 'the file system does not support this operation' },
  ENOSYS: { happened: 'the system does not support this operation' },
  EISDIR: { happened: 'it is a directory' },
  EXDEV: { happened: 'the two are on different file systems' },
  ELOOP: { happened: 'it is a symbolic link' },
  ...HOST_LIMITS,
  ERR_STREAM_PREMATURE_CLOSE: { happened: 'it was interrupted' },
  EMLINK: { happened: 'the file has too many hard links' },
}

/** Describes a file error of Node.js. Its own message repeats the path and contains the errno. */
export const describeFileError = (error: unknown): { readonly happened: string; readonly advice?: string } => {
  if (error instanceof FileError) return { happened: error.happened }
  const happened = error instanceof Error && !('code' in error) ? error.message : errorCode(error)
  return BY_CODE[errorCode(error)] ?? { happened }
}

/** The SourceError for an error of a file. `advice`, also undefined, takes the place of that for its code. */
export const fileError = (error: unknown, account: Pick<ErrorDetails, 'doing' | 'advice'>): SourceError =>
  new SourceError({ ...describeFileError(error), ...account }, { cause: error })

/** For `catch`: throws it. */
export const throwFileError =
  (account: Parameters<typeof fileError>[1]) =>
  (error: unknown): never => {
    throw fileError(error, account)
  }

/** The limit that prevented a start of a program, or of a thread; undefined for another error code. */
export const startLimit = (code: string): { readonly happened: string; readonly advice: string } | undefined =>
  // Elsewhere EAGAIN is no limit: a read that would have to wait.
  code === 'EAGAIN' ? MORE_PROCESSES : HOST_LIMITS[code]

const OUT_OF_MEMORY = /\bout of memory\b|allocation failed|\bmemory limit\b/i

/** The error as a SourceError if a limit of the host caused it, which is not a bug; undefined for all others. */
export const hostLimitError = (error: Error): SourceError | undefined => {
  if (isExpected(error)) return undefined
  const code = errorCode(error, '')
  const called = 'syscall' in error && typeof error.syscall === 'string' ? error.syscall : ''
  const path = 'path' in error && typeof error.path === 'string' && !called.startsWith('spawn') ? ` ${error.path}` : ''
  const isMemory = OUT_OF_MEMORY.test(error.message) && (error instanceof RangeError || code.startsWith('ERR_WORKER'))
  const isStart = called.startsWith('spawn') || code === 'ERR_WORKER_INIT_FAILED'
  const account = isMemory ? HOST_LIMITS['ENOMEM'] : isStart ? startLimit(code) : HOST_LIMITS[code]
  if (account === undefined) return undefined
  return new SourceError({ doing: called === '' ? 'continue' : `${called}${path}`, ...account }, { cause: error })
}

const isExpected = (error: Error): boolean =>
  error instanceof SourceError || error instanceof ParseError || error instanceof ConfigError

/** What a process prints of an error that ends it, or one of its steps. */
export const errorText = (error: Error): string => {
  const cause = hostLimitError(error) ?? error
  return isExpected(cause) ? cause.message : `This is a bug of chain-agent: ${error.stack ?? error.message}`
}

/** Whether the error means that the file, its device or its process does not exist. */
export const isNotFound = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ENODEV', 'ENXIO', 'ESRCH', 'ENODATA'].includes(errorCode(error))

/** For `catch`: the value for a file that does not exist; throws any other error again. */
export const ifMissing =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (isNotFound(error)) return value
    throw error
  }

/** For `catch`: the value in place of data that could not be read or parsed; throws any other error again. */
export const ifUnreadable =
  <Value>(valueFor: (error: SourceError | ParseError) => Value) =>
  (error: unknown): Value => {
    if (error instanceof SourceError || error instanceof ParseError) return valueFor(error)
    throw error
  }

/** JavaScript allows throwing any value; the rest of the code handles Errors only. */
export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))
