import { defineConfig } from 'vitest/config'

/** Measurements. They print figures and judge none, and are no part of `npm test`. */
export default defineConfig({
  test: { include: ['bench/**/*.test.ts'], testTimeout: 600_000, hookTimeout: 120_000 },
})
