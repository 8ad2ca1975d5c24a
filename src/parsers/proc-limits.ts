import { ParseError } from '../core/errors.ts'
import { parseU64 } from '../core/units.ts'

/** How many files a process may have open, from `/proc/PID/limits`: the soft limit. Null is no limit. */
export const parseOpenFilesLimit = (text: string): bigint | null => {
  const [, soft = ''] = /^Max open files\s+(\S+)\s+\S+\s+files\s*$/m.exec(text) ?? []
  if (soft === 'unlimited') return null
  const limit = parseU64(soft)
  if (limit === undefined) throw new ParseError('the limits of a process', 'Max open files', text)
  return limit
}
