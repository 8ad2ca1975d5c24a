import { ParseError } from '../core/errors.ts'

/** JSON as unknown data. Throws a ParseError naming `what` it was. */
export const parseJson = (what: string, text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    throw new ParseError(what, 'JSON', text)
  }
}
