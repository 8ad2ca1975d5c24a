import { ParseError } from '../core/errors.ts'
import { isObject, tryJson } from '../core/json.ts'
import { type ConsensusEventBody, MESSAGES, VARIABLE_MESSAGES } from './consensus-messages.ts'

/** A parsed line of the consensus log. */
export type ConsensusEvent = { readonly level: Level | null } & ConsensusEventBody

/** Null for lines that are not JSON: Rust's own panic output. */
type Level = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'

const WHAT = 'a line of the consensus log'
const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] as const

/**
 * Parses one line. Null for lines without a known message, which is nearly every line on a node that logs DEBUG: the
 * message is compared before any JSON is parsed. Throws a ParseError for a known message in a line that cannot be
 * parsed.
 */
export const parseConsensusLine = (text: string): ConsensusEvent | null => {
  if (!text.startsWith('{')) return parsePlain(text)
  const message = messageOf(text)
  const known = message === undefined ? undefined : MESSAGES.get(message)
  const variable = message === undefined || known ? null : readVariable(message)
  if (!known && !variable) return parseUnknown(text)
  const value = tryJson(text)
  const { level: written, target, fields } = isObject(value) ? value : {}
  const level = LEVELS.find((one) => one === written)
  if (level === undefined || typeof target !== 'string' || !isObject(fields))
    throw new ParseError(WHAT, 'a whole JSON object with level, target and fields', text)
  if (variable) return { level, ...variable }
  // The same message, logged by another component.
  if (!known?.target.test(target)) return ofLevel(level)
  const body = known.read(fields)
  if (!body) throw new ParseError(WHAT, `the fields of "${message}"`, text)
  return { level, ...body }
}

const MESSAGE = '"message":"'

/** The message up to its first quote. It stands near the beginning of the line. */
const messageOf = (text: string): string | undefined => {
  const found = text.indexOf(MESSAGE)
  if (found === -1) return /"message"\s*:\s*"([^"]*)"/.exec(text)?.[1]
  const start = found + MESSAGE.length
  const end = text.indexOf('"', start)
  return end === -1 ? text.slice(start) : text.slice(start, end)
}

/** For an unknown message only the level is returned, and only for warnings and errors. */
const parseUnknown = (text: string): ConsensusEvent | null => {
  const [, level] = /"level"\s*:\s*"(WARN|ERROR)"/.exec(text.slice(0, LEVEL_RANGE)) ?? []
  return level === undefined ? null : ofLevel(level)
}

/** The level follows the timestamp, within this number of characters. */
const LEVEL_RANGE = 200

const ofLevel = (level: string): ConsensusEvent | null =>
  level === 'WARN' || level === 'ERROR' ? { level, event: 'other' } : null

const PANIC = /^thread '[^']*'(?: \(\d+\))? panicked at (?:'(.*)', )?([^'].*?):?$/s
/** The only panic whose reason has a known remedy. */
const TOO_FAR_AHEAD = /^high qc too far ahead of block tree root/

const parsePlain = (text: string): ConsensusEvent | null => {
  const level: Level | null = null
  if (TOO_FAR_AHEAD.test(text)) return { level, event: 'too_far_behind' }
  if (!text.startsWith('thread ')) return null
  const [, reason, place] = PANIC.exec(text) ?? []
  return place === undefined ? null : { level, event: 'panic', place, reason: reason ?? null }
}

/** A fast test whether a message may match one of these patterns: nearly none does. */
const VARIABLE_CANDIDATE = /^(?:waltrace|failed to push|statesync reached|local tip over)|consensus node crashed/

const readVariable = (message: string): ConsensusEventBody | null => {
  if (!VARIABLE_CANDIDATE.test(message)) return null
  const [, body = null] = VARIABLE_MESSAGES.find(([pattern]) => pattern.test(message)) ?? []
  return body
}

const BEGINNINGS = ['waltrace', 'failed to push to wal', 'statesync reached', 'local tip over ']

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/**
 * The pattern for `journalctl --grep`: lines that do not match, nearly all on a node that logs DEBUG, are not read.
 * Lines that are not JSON are panics, and messages of systemd and journald about the unit. Anchored at the beginning it
 * takes a third of the time; one more alternative at its front makes it 40 % slower. It contains a capital letter, so
 * matching is case-sensitive.
 */
export const CONSENSUS_LOG_PATTERN =
  '^(?:[^{]|.{0,200}?"(?:level":"(?:WARN|ERROR)"|message":"(?:' +
  [...MESSAGES.keys(), ...BEGINNINGS].map(escape).join('|') +
  '|[^"]*consensus node crashed)))'
