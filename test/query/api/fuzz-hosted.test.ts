import { expect, it } from 'vitest'
import { fuzzDialect } from './fuzz.ts'

it(
  'any body in the hosted dialect is answered as a naive filter would have it, or refused as it must be',
  { timeout: 3_600_000 },
  async () => {
    await expect(fuzzDialect('hosted')).resolves.toBeUndefined()
  },
)
