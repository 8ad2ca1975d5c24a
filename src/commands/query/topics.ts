import { InvalidArgumentError } from 'commander'
import { topicOf as topicOfEvent } from '../../tokens/signatures.ts'

/** Alternatives by position, as the service takes them. */
export type Topics = readonly (readonly string[])[]

/**
 * `[POSITION:]VALUE[,VALUE]`: a topic of 32 bytes, an address, which is one with zeros before it, or the
 * text of an event, which is hashed. What is named for one position twice are alternatives.
 */
export const readTopic = (text: string, before: Topics): Topics => {
  const [, named, list = ''] = /^(?:([0-3]):)?(.+)$/s.exec(text.trim()) ?? []
  if (list === '' || /^\d+:/.test(list)) {
    throw new InvalidArgumentError('expected [POSITION:]VALUE[,VALUE], with a position from 0 to 3')
  }
  const position = Number(named ?? 0)
  const values = splitOutside(list).map((value) => topicOf(value.trim()))
  return Array.from({ length: Math.max(before.length, position + 1) }, (_, at) => [
    ...new Set([...(before[at] ?? []), ...(at === position ? values : [])]),
  ])
}

const topicOf = (value: string): string => {
  if (/^0x[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase()
  if (/^0x[0-9a-fA-F]{40}$/.test(value)) return `0x${'0'.repeat(24)}${value.slice(2).toLowerCase()}`
  const signature = canonical(value)
  if (signature !== undefined) return topicOfEvent(signature)
  throw new InvalidArgumentError(
    'expected a topic (0x and 64 hex digits), an address, or an event like "Transfer(address,address,uint256)"',
  )
}

/** An event as it is hashed: `event Transfer(address indexed from, …)` without all but its types. */
const canonical = (text: string): string | undefined => {
  const [, name, list = ''] = /^(?:event\s+)?([A-Za-z_$][\w$]*)\s*\((.*)\);?$/s.exec(text) ?? []
  if (name === undefined) return undefined
  const types = list.trim() === '' ? [] : splitOutside(list).map(typeOf)
  return types.includes(undefined) ? undefined : `${name}(${types.join(',')})`
}

/** The type that a parameter begins with, as it is hashed; undefined for what is no type. */
const typeOf = (parameter: string): string | undefined => {
  const [, type = '', arrays = ''] =
    /^\s*(\(.*\)|[a-z][a-z0-9]*)((?:\[\d*\])*)(?:\s+[\w$]+)*\s*$/.exec(parameter) ?? []
  const base = type.startsWith('(') ? tupleOf(type.slice(1, -1)) : elementary(type)
  return base === undefined ? undefined : `${base}${arrays}`
}

const tupleOf = (list: string): string | undefined => {
  const types = splitOutside(list).map(typeOf)
  return types.includes(undefined) ? undefined : `(${types.join(',')})`
}

/** A slip of the pen would be hashed as well, and found nowhere. */
const elementary = (type: string): string | undefined => {
  if (/^(?:address|bool|string|function|bytes(?:[1-9]|[12]\d|3[0-2])?)$/.test(type)) return type
  const [, kind, bits = '256'] = /^(u?int)([1-9]\d*)?$/.exec(type) ?? []
  return kind !== undefined && Number(bits) % 8 === 0 && Number(bits) <= 256
    ? `${kind}${bits}`
    : undefined
}

/** At commas that stand in no parentheses. */
const splitOutside = (text: string): readonly string[] => {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (const [at, sign] of [...text].entries()) {
    if (sign === '(') depth += 1
    if (sign === ')') depth -= 1
    if (sign !== ',' || depth > 0) continue
    parts.push(text.slice(from, at))
    from = at + 1
  }
  return [...parts, text.slice(from)]
}
