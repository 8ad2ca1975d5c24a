import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'

const WHAT = "the query service's height"

/**
 * The height in the response to GET /height. Throws a ParseError, also for null, which a service without a height
 * returns.
 */
export const parseHeight = (text: string): bigint => {
  const { data } = z
    .object({ height: z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER) })
    .safeParse(parseJson(WHAT, text))
  if (!data) throw new ParseError(WHAT, '{"height": N}', text)
  return BigInt(data.height)
}
