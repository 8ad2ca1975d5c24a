import { defineConfig } from 'vitest/config'

/** Whole tables from end to end: too long for `npm test`, each with a command of its own. */
export default defineConfig({
  test: { include: ['e2e/**/*.test.ts'], testTimeout: 3_600_000, hookTimeout: 120_000 },
})
