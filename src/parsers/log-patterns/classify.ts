import { LOG_PATTERNS } from './list.ts'
import type { LogPattern } from './pattern.ts'
import { UNCAUGHT } from './programs.ts'

/** The patterns that can occur in the log of a service. For an unknown service: the patterns of any program. */
export const patternsOf = (service: string): readonly LogPattern[] => {
  const known = byService.get(service)
  if (known) return known
  const found = LOG_PATTERNS.filter(({ services }) =>
    services.some((name) => name === service || (name === 'any' && service !== 'cruft')),
  )
  byService.set(service, found)
  return found
}

/** Every batch of entries reads them. */
const byService = new Map<string, readonly LogPattern[]>()

/** Whether a line may match a pattern; nearly none does. A fast check before `classifyLine`. */
export const mayMatchPattern = (line: string): boolean => CANDIDATE.test(line)

export type ClassifiedLine = ReturnType<typeof classifyLine>

/** The names of the patterns that a line of any log matches, and its level; null if it has neither. */
export const parsePatternLine = (line: string) => {
  const { patterns, level } = classifyLine(LOG_PATTERNS, line)
  if (patterns.length === 0 && level === null) return null
  return { patterns: patterns.map(({ name }) => name), level }
}

/** The patterns match the beginning of a message. Of a line of 1 MiB, some of them would take ten seconds. */
const MATCHED_LENGTH = 4096

/** Matches one line of a log against these patterns. */
export const classifyLine = (expected: readonly LogPattern[], line: string) => {
  const { text, level, isBare } = unwrap(line)
  const beginning = text.slice(0, MATCHED_LENGTH)
  // A caught exception of a transaction or a contract: normal operation.
  const isCaught = /\bassert throw\b/i.test(beginning) && !(isBare && UNCAUGHT_LINE.test(beginning))
  const reason = isBare ? reasonOf(beginning) : undefined
  const patterns = isCaught
    ? []
    : expected.filter((pattern) => {
        if (pattern.isBare === true && !isBare) return false
        const expression = expressionOf(pattern)
        return expression.test(beginning) || (reason !== undefined && expression.test(reason))
      })
  return { patterns, level, text, isBare }
}

const UNCAUGHT_LINE = new RegExp(`^${UNCAUGHT}`)

/** The reason of a panic that has it on its first line. */
const reasonOf = (text: string): string | undefined =>
  /^thread '.{0,80}?'(?: \(\d+\))? panicked at (?:\S{1,300}:\d+:\d+: |')(.+)$/s.exec(text)?.[1]

const expressions = new Map(LOG_PATTERNS.map(({ name, text }) => [name, new RegExp(`^(?:${text})`)]))
const NEVER = /$^/
const expressionOf = ({ name }: LogPattern): RegExp => expressions.get(name) ?? NEVER

/** `2026-05-02 08:00:00.123456789 [4711] file.cpp:12 LOG_INFO⇥text`. The line number changes with every version. */
const LOGGED = String.raw`\d{4}-\d\d-\d\d [^ ]+ \[[^\]]*\] [^ ]+ LOG_`
const LOGGED_LINE = new RegExp(`^${LOGGED}([A-Z]{1,10})\\S*\\s+(.*)$`, 's')
const BEFORE_BARE = /^(?:(?:assertion failure message|abort message|FATAL): ){1,2}/

/** The text without the logger's prefix, and its level. A line without the prefix is bare: it may be the reason for the line before it. */
const unwrap = (line: string) => {
  if (line.startsWith('{')) {
    const [, escaped = ''] = /^.{0,200}?"message"\s*:\s*"((?:[^"\\]|\\.){0,2000})/s.exec(line) ?? []
    const message = escaped.replaceAll(/\\(["\\t])/g, (_, char: string) => (char === 't' ? '\t' : char))
    // The database library logs through the program that uses it, each line with its own prefix.
    const [, word = /^.{0,200}?"level"\s*:\s*"([A-Z]{1,10})"/s.exec(line)?.[1] ?? '', text = message] =
      LOGGED_LINE.exec(message) ?? []
    return { text, level: levelOf(word), isBare: false }
  }
  const [, level = '', text] = LOGGED_LINE.exec(line) ?? []
  if (text !== undefined) return { text, level: levelOf(level), isBare: false }
  return { text: line.replace(BEFORE_BARE, ''), level: null, isBare: true }
}

/** The level that the logger wrote; null for lines without one, and for other levels. */
const levelOf = (word: string): 'warning' | 'error' | null => {
  if (word.startsWith('WARN')) return 'warning'
  return word.startsWith('ERR') || word.startsWith('CRIT') ? 'error' : null
}

const alternatives = (patterns: readonly LogPattern[]): string =>
  [...new Set(patterns.flatMap(({ isBare, text }) => (isBare ? [] : [text])))].join('|')

/**
 * Messages that a node writes every second or two at any log level, also when it is failing. Without them the follower
 * would receive nothing for hours, and journalctl would search the complete journal for the newest matching entry, at
 * 350,000 lines a second, where an hour has 20 million.
 */
const FREQUENT_MESSAGES = String.raw`committed block"|local timeout"|still syncing\.\.\."`

/**
 * The pattern for `journalctl --grep`: lines that do not match, nearly all, are not read. Lines without a logger prefix
 * are all read except backtrace frames, because a reason is on the next line; of the values of a Rust assertion, which
 * are indented, errors are read. The pattern contains a capital letter, so
 * matching is case-sensitive.
 */
export const LOG_PATTERN =
  String.raw`^(?:(?!\d{4}-\d\d-\d\d )(?:[^{\s]|\s{1,2}left: Err)` +
  String.raw`|\{.{0,200}?"(?:message":"(?:${FREQUENT_MESSAGES}|${LOGGED}(?:WARN|ERR|CRIT)|${alternatives([...patternsOf('bft'), ...patternsOf('rpc')])})` +
  String.raw`|level":"(?:WARN|ERROR)".{0,4000}"target":"[^"]{0,80}_(?:rpc|archive)\b)` +
  `|${LOGGED}(?:WARN|ERR|CRIT|[A-Z]+\\s+(?!.{0,80}assert throw)(?:${alternatives(patternsOf('execution'))})))`

const CANDIDATE = new RegExp(LOG_PATTERN)
