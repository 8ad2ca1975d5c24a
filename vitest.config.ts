import { defineConfig } from 'vitest/config'

/** Suites that take real time or a real part beside Node. Each runs alone, in this order, after the unit tests. */
const REAL_PARTS = [
  'commands',
  'rehearsal',
  'alerts',
  'dashboards',
  'faults',
  'canary',
  'keys',
  'shells',
  'sandbox',
  'prometheus',
  'store',
  'evm',
  'demo',
  'nodes',
] as const

/** Suites whose files do not disturb each other. */
const SIDE_BY_SIDE: readonly string[] = ['commands', 'rehearsal', 'keys']

export default defineConfig({
  test: {
    reporters: ['default', './test/support/closing-lines.ts'],
    retry: 0,
    passWithNoTests: false,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...REAL_PARTS.map((part) => `test/${part}/**`), '**/node_modules/**'],
          sequence: { groupOrder: 0 },
          // A limit that catches a hang alone: on a busy machine a test may take ten times as long.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      ...REAL_PARTS.map((name, index) => ({
        test: {
          name,
          include: [`test/${name}/*.test.ts`],
          sequence: { groupOrder: index + 1 },
          // What waits for nothing but the processor, or for nothing of which there is but one.
          ...(SIDE_BY_SIDE.includes(name) ? { maxWorkers: 2 } : { fileParallelism: false }),
          testTimeout: 60_000,
          hookTimeout: 120_000,
          globalSetup: [
            'test/support/sweep.ts',
            ...(name === 'rehearsal' ? ['test/support/rehearsal-folder.ts'] : []),
          ],
        },
      })),
    ],
  },
})
