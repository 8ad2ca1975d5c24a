import { expect, test } from 'vitest'
import { fuzzDialect } from './fuzz-dialect.ts'

test.each(['spec', 'hosted'] as const)(
  'any body in the dialect %s gets the logs of a naive filter, or the expected error',
  { timeout: 3_600_000 },
  async (dialect) => {
    await expect(fuzzDialect(dialect)).resolves.toBeUndefined()
  },
)
