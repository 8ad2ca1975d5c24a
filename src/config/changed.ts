import { isDeepStrictEqual } from 'node:util'
import { keys } from './keys.ts'
import { valueAt } from './load.ts'
import type { Config } from './schema.ts'

/** The keys whose values differ, in the order of the documentation. */
export const changedKeys = (before: Config, after: Config): readonly string[] =>
  keys
    .map(({ path }) => path)
    .filter((path) => {
      const steps = path.split('.')
      return !isDeepStrictEqual(valueAt(before, steps), valueAt(after, steps))
    })
