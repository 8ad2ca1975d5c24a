import { defineConfig } from 'vitest/config'
import { MATRIX } from './test/support/matrix.ts'

/** Every folder of tests that needs more than Node and a moment, and those of its files that belong to `npm test`. */
const SUITES: Readonly<Record<string, readonly string[]>> = {
  commands: ['[!qr]*', 'query-[!r]*', 're[!p]*', 'report', 'ru*'],
  scenarios: ['short'],
  alerts: ['alertmanager', 'faults', 'runbooks'],
  dashboards: ['fleet-figures', 'history', 'lint', 'resolve', 'rules-history', 'schema', 'usage'],
  demo: ['demo'],
  sandbox: ['sandbox'],
  faults: [],
  canary: [],
  keys: [],
  shells: [],
  prometheus: [],
  store: [],
  evm: [],
  nodes: [],
  'official-client': [],
  page: [],
  package: [],
}
const FOLDERS = Object.keys(SUITES).map((folder) => `test/${folder}/*.test.ts`)
const QUICK = Object.entries(SUITES).flatMap(([folder, files]) => files.map((file) => `test/${folder}/${file}.test.ts`))
// All scenarios include these.
const SHORT = 'test/scenarios/short.test.ts'

const ONLY_MATRIX = MATRIX.flatMap(({ files, isOther }) => (isOther ? files : []))

/** A limit only catches a hang: on a busy machine a test may take twenty times as long. */
const SETTINGS = {
  testTimeout: 900_000,
  hookTimeout: 900_000,
  // The files of a project that one worker runs share modules: loading them for each file is half of the time.
  isolate: false,
  // Many wait for timers of systemd, Prometheus or Alertmanager: four files fill two cores.
  maxWorkers: 4,
}
const globalSetup = ['test/support/sweep.ts', 'test/support/coverage-folder.ts']

export default defineConfig({
  test: {
    globalSetup: ['test/support/built.ts'],
    reporters: ['default', './test/support/closing-lines.ts', './test/support/matrix.ts'],
    retry: 0,
    passWithNoTests: false,
    projects: [
      {
        test: {
          ...SETTINGS,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...FOLDERS, '**/node_modules/**'],
          env: { FUZZ_BODIES: process.env['FUZZ_BODIES'] ?? '4000', FUZZ_EXECUTIONS: '300' },
        },
      },
      { test: { ...SETTINGS, name: 'quick', include: QUICK, exclude: [SHORT], globalSetup } },
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
      { test: { ...SETTINGS, name: 'long', include: FOLDERS, exclude: [...QUICK, ...ONLY_MATRIX], globalSetup } },
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
    ],
  },
})
