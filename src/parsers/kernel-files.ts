import { ParseError } from '../core/errors.ts'
import { parseU64 } from '../core/units.ts'

/** A file of the kernel that holds one whole number. */
export const parseCount = (what: string, text: string): bigint => {
  const count = parseU64(text.trim())
  if (count === undefined) throw new ParseError(what, 'a whole number', text)
  return count
}

/** A switch of the kernel: 0 or 1. */
export const parseSwitch = (what: string, text: string): boolean => {
  const word = text.trim()
  if (word !== '0' && word !== '1') throw new ParseError(what, '0 or 1', text)
  return word === '1'
}

/** A temperature of a sensor in thousandths of a degree, as degrees Celsius. */
export const parseTemperature = (what: string, text: string): number => {
  const word = text.trim()
  if (!/^-?\d{1,7}$/.test(word)) throw new ParseError(what, 'thousandths of a degree', text)
  return Number(word) / 1000
}

/** A word or a name, as a label can carry it. */
export const parseWord = (what: string, text: string): string => {
  const word = text.trim().replaceAll(/\s+/g, ' ')
  if (!/^[\x20-\x7E]{1,64}$/.test(word)) throw new ParseError(what, 'a short word', text)
  return word
}
