import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { parseJson } from './json.ts'

const WHAT = "the query service's height"

/** The height that GET /height reports; a service that has none yet says null. Throws a ParseError. */
export const parseHeight = (text: string): bigint => {
  const { data } = z
    .object({ height: z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER) })
    .safeParse(parseJson(WHAT, text))
  if (!data) throw new ParseError(WHAT, '{"height": N}', text)
  return BigInt(data.height)
}
