import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { expectation, parseToml } from './validators.ts'

/** The node reads the setting as u16, and does not start without it. */
const schema = z.object({ statesync_threshold: z.bigint().min(0n).max(65_535n).transform(Number) })

/** Parses `statesync_threshold` of the configuration of consensus, `node.toml`. Throws a ParseError. */
export const parseStatesyncThreshold = (text: string): number => {
  const { data, error } = schema.safeParse(parseToml('node.toml', text))
  if (!data) throw new ParseError('node.toml', expectation(error), text)
  return data.statesync_threshold
}
