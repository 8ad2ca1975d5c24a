import { InvalidArgumentError } from 'commander'
import { topicOf as topicOfEvent } from '../../tokens/signatures.ts'

/** Alternatives for each position. */
export type Topics = readonly (readonly string[])[]

/**
 * Parses `[POSITION:]VALUE[,VALUE]`. A value is a topic of 32 bytes, an address, which is padded with zeros, or an
 * event signature, which is hashed. Values for the same position are alternatives.
 */
export const readTopic = (text: string, before: Topics): Topics => {
  const [, named, list = ''] = /^(?:([0-3]):)?(.+)$/s.exec(text.trim()) ?? []
  if (list === '' || /^\d+:/.test(list)) {
    throw new InvalidArgumentError('expected [POSITION:]VALUE[,VALUE], with a position from 0 to 3')
  }
  const position = Number(named ?? 0)
  const values = splitTopLevel(list).map((value) => topicOf(value.trim()))
  return Array.from({ length: Math.max(before.length, position + 1) }, (_, at) => [
    ...new Set([...(before[at] ?? []), ...(at === position ? values : [])]),
  ])
}

const topicOf = (value: string): string => {
  if (/^0x[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase()
  if (/^0x[0-9a-fA-F]{40}$/.test(value)) return `0x${'0'.repeat(24)}${value.slice(2).toLowerCase()}`
  const signature = canonicalSignatureOf(value)
  if (signature !== undefined) return topicOfEvent(signature)
  throw new InvalidArgumentError(
    'expected a topic (0x and 64 hex digits), an address, or an event like "Transfer(address,address,uint256)"',
  )
}

/** The canonical signature of an event: of `event Transfer(address indexed from, …)` only the name and types. */
const canonicalSignatureOf = (text: string): string | undefined => {
  const [, name, list = ''] = /^(?:event\s+)?([A-Za-z_$][\w$]*)\s*\((.*)\);?$/s.exec(text) ?? []
  if (name === undefined) return undefined
  const types = list.trim() === '' ? [] : splitTopLevel(list).map(typeOf)
  return types.includes(undefined) ? undefined : `${name}(${types.join(',')})`
}

/** The canonical type of a parameter; undefined if it does not begin with a type. */
const typeOf = (parameter: string): string | undefined => {
  const [, type = '', arrays = ''] = /^\s*(\(.*\)|[a-z][a-z0-9]*)((?:\[\d*\])*)(?:\s+[\w$]+)*\s*$/.exec(parameter) ?? []
  const base = type.startsWith('(') ? tupleOf(type.slice(1, -1)) : elementaryTypeOf(type)
  return base === undefined ? undefined : `${base}${arrays}`
}

const tupleOf = (list: string): string | undefined => {
  const types = splitTopLevel(list).map(typeOf)
  return types.includes(undefined) ? undefined : `(${types.join(',')})`
}

/** Validated because the hash of a misspelt type would match no log. */
const elementaryTypeOf = (type: string): string | undefined => {
  if (/^(?:address|bool|string|function|bytes(?:[1-9]|[12]\d|3[0-2])?)$/.test(type)) return type
  const [, kind, bits = '256'] = /^(u?int)([1-9]\d*)?$/.exec(type) ?? []
  return kind !== undefined && Number(bits) % 8 === 0 && Number(bits) <= 256 ? `${kind}${bits}` : undefined
}

/** Splits at the commas outside parentheses. */
const splitTopLevel = (text: string): readonly string[] => {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (const [at, character] of [...text].entries()) {
    if (character === '(') depth += 1
    if (character === ')') depth -= 1
    if (character !== ',' || depth > 0) continue
    parts.push(text.slice(from, at))
    from = at + 1
  }
  return [...parts, text.slice(from)]
}
