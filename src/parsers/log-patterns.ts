import type { LogPattern } from './log-pattern.ts'
import { CONSENSUS_PATTERNS } from './log-patterns-consensus.ts'
import { EXECUTION_PATTERNS } from './log-patterns-execution.ts'

/** How a program ends, whatever it is. */
const ENDINGS: readonly LogPattern[] = [
  {
    name: 'assertion',
    speakers: ['any'],
    text: "(?:.*: )?Assertion [`'].*' failed",
    isBare: true,
    tellsNext: true,
    severity: 'critical',
    means: 'The program found that something cannot be, and has ended itself by SIGABRT.',
    advice:
      'Keep the log. Where consensus was started alone before, start it and execution together; where the text names the database or the kernel, see there.',
  },
  {
    name: 'abort',
    speakers: ['any'],
    text: '(?:.*: )?[A-Z]+_ABORT called',
    isBare: true,
    tellsNext: true,
    severity: 'critical',
    means: 'The program could not go on, and has ended itself by SIGABRT.',
    advice: 'Read what it says, and do what that asks for.',
  },
  {
    name: 'panic',
    speakers: ['any'],
    text: String.raw`thread '.{0,80}?'(?: \(\d+\))? panicked at `,
    isBare: true,
    tellsNext: true,
    severity: 'critical',
    means: 'A program in Rust came upon something that it cannot go on from, and has ended.',
    advice: 'Read its reason, then start consensus and execution together.',
  },
  {
    name: 'fatal',
    speakers: ['any'],
    text: String.raw`(?:terminate called after throwing|memory allocation of \d+ bytes failed|.{0,160}?std::bad_alloc)`,
    severity: 'critical',
    means:
      'The program had no memory left, or came upon an exception that nothing catches, and has ended.',
    advice:
      'Look at the memory and the huge pages of the host and for what else uses them, then start consensus and execution together; where the line names another exception, keep the log.',
  },
]

/** What befalls whoever writes to a disk. */
const DISK: readonly LogPattern[] = [
  {
    name: 'disk_full',
    speakers: ['any', 'cruft'],
    text: '.{0,160}?No space left on device',
    severity: 'critical',
    means: 'A file system, or huge pages, took no more of what the program wrote.',
    advice:
      'See with `df` and `df -i` which file system is full, and free some of it: old logs first, of the node what its clean-up would take. Then start what has ended.',
  },
]

const CLEANUP: readonly LogPattern[] = [
  {
    name: 'cleanup_skipped',
    speakers: ['cruft'],
    text: 'No new files detected. Skipping',
    severity: 'warning',
    means: 'The clean-up deleted nothing, because the ledger had no new file for 20 minutes.',
    advice:
      'See why the node is stalled; until it advances again, watch the free space of its file system.',
  },
  {
    name: 'cleanup_completed',
    speakers: ['cruft'],
    text: 'Cleanup completed successfully',
    severity: 'info',
    means: 'The hourly clean-up has deleted what was old.',
    advice: 'Nothing. If it stays away for two hours, look at the timer.',
  },
]

/** Every pattern there is. */
export const LOG_PATTERNS = [
  ...ENDINGS,
  ...DISK,
  ...CONSENSUS_PATTERNS,
  ...EXECUTION_PATTERNS,
  ...CLEANUP,
]

/** Those that can stand in the log of a service; of one that we do not know, what any program may say. */
export const patternsOf = (service: string): readonly LogPattern[] =>
  LOG_PATTERNS.filter(({ speakers }) =>
    speakers.some((speaker) => speaker === service || (speaker === 'any' && service !== 'cruft')),
  )

/** One look tells whether a line can matter: nearly none does. */
export const mayMatter = (line: string): boolean => WORTH_READING.test(line)

export interface LogLine {
  readonly patterns: readonly LogPattern[]
  /** Where the logger of execution says so. */
  readonly level: 'warning' | 'error' | null
  /** What it says, without what a logger put before it. */
  readonly text: string
  /** Whether no logger wrote it: it may explain the line before it. */
  readonly isBare: boolean
}

/** What a line, wherever it comes from, says of trouble; null where it says nothing. */
export const parseLogLine = (
  line: string,
): { readonly patterns: readonly string[]; readonly level: LogLine['level'] } | null => {
  const { patterns, level } = readLogLine(LOG_PATTERNS, line)
  if (patterns.length === 0 && level === null) return null
  return { patterns: patterns.map(({ name }) => name), level }
}

/** Reads one line of a log that may hold these patterns. */
export const readLogLine = (expected: readonly LogPattern[], line: string): LogLine => {
  const { text, level, isBare } = unwrap(line)
  // An exception that was caught, of a transaction or a contract: everyday life.
  const isCaught = /\bassert throw\b/i.test(text)
  const patterns = isCaught
    ? []
    : expected.filter(
        (pattern) => (isBare || pattern.isBare !== true) && expressionOf(pattern).test(text),
      )
  return { patterns, level, text, isBare }
}

const expressions = new Map(
  LOG_PATTERNS.map(({ name, text }) => [name, new RegExp(`^(?:${text})`)]),
)
const NEVER = /$^/
const expressionOf = ({ name }: LogPattern): RegExp => expressions.get(name) ?? NEVER

/** `2026-05-02 08:00:00.123456789 [4711] file.cpp:12 LOG_INFO⇥text`; the number of the line changes with every version. */
const LOGGED = String.raw`\d{4}-\d\d-\d\d [^ ]+ \[[^\]]*\] [^ ]+ LOG_`
const LOGGED_LINE = new RegExp(`^${LOGGED}([A-Z]+)\\S*\\s+(.*)$`, 's')
const BEFORE_BARE = /^(?:assertion failure message: |abort message: |FATAL: )/

const unwrap = (line: string): Omit<LogLine, 'patterns'> => {
  if (line.startsWith('{')) {
    const [, text = ''] = /^.{0,200}?"message"\s*:\s*"((?:[^"\\]|\\.){0,2000})/s.exec(line) ?? []
    return { text: text.replaceAll(/\\(["\\])/g, '$1'), level: null, isBare: false }
  }
  const [, level = '', text] = LOGGED_LINE.exec(line) ?? []
  if (text !== undefined) return { text, level: levelOf(level), isBare: false }
  return { text: line.replace(BEFORE_BARE, ''), level: null, isBare: true }
}

const levelOf = (word: string): LogLine['level'] => {
  if (word.startsWith('WARN')) return 'warning'
  return word.startsWith('ERR') || word.startsWith('CRIT') ? 'error' : null
}

const alternatives = (patterns: readonly LogPattern[]): string =>
  patterns
    .filter(({ isBare }) => isBare !== true)
    .map(({ text }) => text)
    .join('|')

/**
 * What a node writes every second or two under any level, and in trouble too. The follower would else
 * hear nothing for hours, and journalctl look through all of them for the newest entry that matches:
 * 350,000 lines a second, where an hour has 20 million.
 */
const PULSE = String.raw`committed block"|local timeout"|still syncing\.\.\."`

/**
 * What journalctl may leave out is what does not match this: nearly everything. What no logger wrote
 * comes whole, but for the frames of a backtrace, because a reason stands on the next line.
 * With a capital letter in it, case matters.
 */
export const LOG_PATTERN =
  String.raw`^(?:(?!\d{4}-\d\d-\d\d )[^{\s]` +
  String.raw`|\{.{0,200}?"message":"(?:${PULSE}|${alternatives(patternsOf('bft'))})` +
  `|${LOGGED}(?:WARN|ERR|CRIT|[A-Z]+\\s+(?!.{0,80}assert throw)(?:${alternatives(patternsOf('execution'))})))`

const WORTH_READING = new RegExp(LOG_PATTERN)
