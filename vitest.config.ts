import { defineConfig } from 'vitest/config'
import tests from './test/suites.json' with { type: 'json' }
import { LongestFirst } from './test/support/longest-first.ts'
import { MATRIX } from './test/support/matrix.ts'

const { unit, ...folders } = tests.suites
const FOLDERS = Object.keys(folders).map((folder) => `test/${folder}/*.test.ts`)
/** The files that `npm test` leaves to `npm run test:all`. */
const LATER = [
  ...unit.later.map((file) => `test/${file}.test.ts`),
  ...Object.entries(folders).flatMap(([folder, { later }]) => later.map((file) => `test/${folder}/${file}.test.ts`)),
]
// All scenarios include these.
const SHORT = 'test/scenarios/short.test.ts'

/** Other versions: a run of a folder without `--project matrix` leaves them out. */
const IS_MATRIX = process.argv.some((word) => word === 'matrix' || word === '--project=matrix')
const ONLY_MATRIX = MATRIX.flatMap(({ files, isOther }) => (isOther ? files : []))

/** A limit only catches a hang: on a busy machine a test may take twenty times as long. */
const SETTINGS = {
  testTimeout: 900_000,
  hookTimeout: 900_000,
  // The files of a project that one worker runs share modules: loading them for each file is half of the time.
  isolate: false,
  // Many wait for timers of systemd, Prometheus or Alertmanager: four files fill two cores.
  maxWorkers: 4,
  // Loaded by Node.js, as its users do.
  server: { deps: { external: [/\/dist\//] } },
}
const globalSetup = ['test/support/sweep.ts', 'test/support/coverage-folder.ts']

export default defineConfig({
  test: {
    globalSetup: ['test/support/built.ts'],
    reporters: ['default', './test/support/closing-lines.ts', './test/support/matrix.ts'],
    sequence: { sequencer: LongestFirst },
    retry: 0,
    passWithNoTests: false,
    projects: [
      {
        test: {
          ...SETTINGS,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...FOLDERS, ...LATER, ...ONLY_MATRIX, '**/node_modules/**'],
          env: { FUZZ_BODIES: process.env['FUZZ_BODIES'] ?? '4000', FUZZ_EXECUTIONS: '300' },
        },
      },
      {
        test: { ...SETTINGS, name: 'quick', include: FOLDERS, exclude: [...LATER, ...ONLY_MATRIX, SHORT], globalSetup },
      },
      { test: { ...SETTINGS, name: 'scenarios', include: [SHORT], globalSetup } },
      {
        test: {
          ...SETTINGS,
          name: 'fuzz',
          include: ['test/query/api/fuzz.test.ts', 'test/fuzz/fuzz.test.ts'],
          // Other inputs than those of the unit tests.
          env: { FUZZ_BODIES: '100000', FUZZ_EXECUTIONS: '3000', FUZZ_SEED: '11' },
        },
      },
      { test: { ...SETTINGS, name: 'long', include: LATER, exclude: ONLY_MATRIX, globalSetup } },
      ...(IS_MATRIX
        ? [
            {
              test: {
                ...SETTINGS,
                name: 'matrix',
                include: MATRIX.flatMap(({ files }) => files),
                // `versionsToTest` reads it.
                env: { VERSIONS: 'others' },
                globalSetup,
              },
            },
          ]
        : []),
    ],
  },
})
