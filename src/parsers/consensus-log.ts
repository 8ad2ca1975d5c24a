import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import type { ConsensusEvent, Level } from './consensus-log-events.ts'
import { MESSAGES, readVariable } from './consensus-log-messages.ts'

const WHAT = 'a line of the consensus log'
const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] as const
const schema = z.object({
  level: z.enum(LEVELS),
  target: z.string(),
  fields: z.record(z.string(), z.unknown()),
})

/**
 * Parses one line. Null for noise, which nearly everything is on a node that logs DEBUG: a look at the
 * message decides, before any JSON is read. Throws a ParseError for a message that we know in a line
 * that we do not understand.
 */
export const parseConsensusLine = (text: string): ConsensusEvent | null => {
  if (!text.startsWith('{')) return parsePlain(text)
  const message = messageOf(text)
  const known = message === undefined ? undefined : MESSAGES.get(message)
  const variable = message === undefined || known ? null : readVariable(message)
  if (!known && !variable) return parseUnknown(text)
  const { data } = schema.safeParse(tryJson(text))
  if (!data) throw new ParseError(WHAT, 'a whole JSON object with level, target and fields', text)
  const { level, target, fields } = data
  if (variable) return { level, ...variable }
  // Another part of the program, with the same words.
  if (!known?.target.test(target)) return ofLevel(level)
  const said = known.read(fields)
  if (!said) throw new ParseError(WHAT, `the fields of "${message}"`, text)
  return { level, ...said }
}

const MESSAGE = '"message":"'

/** The message, as far as its first quote; it stands near the beginning of the line. */
const messageOf = (text: string): string | undefined => {
  const found = text.indexOf(MESSAGE)
  if (found === -1) return /"message"\s*:\s*"([^"]*)"/.exec(text)?.[1]
  const start = found + MESSAGE.length
  const end = text.indexOf('"', start)
  return end === -1 ? text.slice(start) : text.slice(start, end)
}

/** Of a line whose message we do not know only the level is told, and only of what is not well. */
const parseUnknown = (text: string): ConsensusEvent | null => {
  const [, level] = /"level"\s*:\s*"(WARN|ERROR)"/.exec(text.slice(0, HEAD)) ?? []
  return level === undefined ? null : ofLevel(level)
}

/** The level stands right after the timestamp. */
const HEAD = 200

const ofLevel = (level: string): ConsensusEvent | null =>
  level === 'WARN' || level === 'ERROR' ? { level, event: 'other' } : null

const PANIC = /^thread '[^']*'(?: \(\d+\))? panicked at (?:'(.*)', )?([^'].*?):?$/s
/** The one panic whose reason says what to do. */
const TOO_FAR_AHEAD = /^high qc too far ahead of block tree root/

const parsePlain = (text: string): ConsensusEvent | null => {
  const level: Level | null = null
  if (TOO_FAR_AHEAD.test(text)) return { level, event: 'too_far_behind' }
  if (!text.startsWith('thread ')) return null
  const [, reason, place] = PANIC.exec(text) ?? []
  return place === undefined ? null : { level, event: 'panic', place, reason: reason ?? null }
}

const tryJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
