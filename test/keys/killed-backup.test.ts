import { expect, it } from 'vitest'
import { requireRealPart } from '../support/real-parts.ts'
import { probeStrace } from '../support/strace.ts'
import { killEverywhere } from './kill.ts'
import { SCENES } from './scenes.ts'

const describe = await requireRealPart('strace', probeStrace)

/** Some thirty runs a scene. */
const PATIENCE = 180_000

describe('a backup that is killed', () => {
  it.each(SCENES.backup)(
    '$name: at each call on the files a good key is left, and the next run completes it',
    async (scene) => {
      expect(await killEverywhere(scene)).toBeGreaterThan(10)
    },
    PATIENCE,
  )
})
