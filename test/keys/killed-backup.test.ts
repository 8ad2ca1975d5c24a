import { expect, it } from 'vitest'
import { requireRealPart } from '../support/real-parts.ts'
import { probeStrace } from '../support/strace.ts'
import { killAtEachCall } from './kill-at-each-call.ts'
import { SCENARIOS } from './scenarios.ts'

const describe = await requireRealPart('strace', probeStrace)

/** About thirty runs per scenario. */
const TIMEOUT_MS = 180_000

describe('a backup that is killed', () => {
  it.each(SCENARIOS.backup)(
    '$name: at each call an intact key is left, and the next run completes the command',
    async (scenario) => {
      expect(await killAtEachCall(scenario)).toBeGreaterThan(10)
    },
    TIMEOUT_MS,
  )
})
