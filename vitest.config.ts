import { defineConfig } from 'vitest/config'

interface Suite {
  readonly name: string
  /** Files of `npm test`; the others run in `npm run test:all` only. */
  readonly quick: readonly string[]
}

/** Every folder of tests that needs more than Node and a moment. */
const SUITES: readonly Suite[] = [
  { name: 'commands', quick: ['[!q]*', 'query-[!r]*'] },
  { name: 'scenarios', quick: ['short'] },
  { name: 'alerts', quick: ['alertmanager', 'faults', 'inhibition', 'rules', 'runbooks'] },
  {
    name: 'dashboards',
    quick: ['figures', 'history', 'lint', 'resolve', 'rules-history', 'usage'],
  },
  { name: 'demo', quick: ['demo'] },
  { name: 'sandbox', quick: ['sandbox'] },
  { name: 'faults', quick: [] },
  { name: 'canary', quick: [] },
  { name: 'keys', quick: [] },
  { name: 'shells', quick: [] },
  { name: 'prometheus', quick: [] },
  { name: 'store', quick: ['duckdb'] },
  { name: 'evm', quick: [] },
  { name: 'nodes', quick: [] },
  { name: 'page', quick: [] },
  { name: 'package', quick: [] },
]

/** A limit only catches a hang: on a busy machine a test may take twenty times as long. */
const SETTINGS = {
  testTimeout: 900_000,
  hookTimeout: 900_000,
  // Files of one worker share modules: loading them for each file is half of the time.
  isolate: false,
}

const inFolder = ({ name }: Suite, files: readonly string[]): string[] =>
  files.map((file) => `test/${name}/${file}.test.ts`)

export default defineConfig({
  test: {
    reporters: ['default', './test/support/closing-lines.ts'],
    retry: 0,
    passWithNoTests: false,
    projects: [
      {
        test: {
          ...SETTINGS,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...SUITES.map(({ name }) => `test/${name}/*.test.ts`), '**/node_modules/**'],
          sequence: { groupOrder: 0 },
          maxWorkers: 2,
          env: { FUZZ_BODIES: process.env['FUZZ_BODIES'] ?? '4000', FUZZ_EXECUTIONS: '300' },
        },
      },
      {
        test: {
          ...SETTINGS,
          name: 'fuzz:long',
          include: ['test/query/api/fuzz.test.ts', 'test/fuzz/fuzz.test.ts'],
          sequence: { groupOrder: 1 },
          maxWorkers: 3,
          // Other inputs than those of the unit tests.
          env: { FUZZ_BODIES: '100000', FUZZ_EXECUTIONS: '3000', FUZZ_SEED: '11' },
        },
      },
      ...SUITES.filter(({ quick }) => quick.length > 0).map((suite) => ({
        test: {
          ...SETTINGS,
          name: suite.name,
          include: inFolder(suite, suite.quick),
          sequence: { groupOrder: 0 },
          maxWorkers: 2,
          globalSetup: ['test/support/sweep.ts', 'test/support/coverage-folder.ts'],
        },
      })),
      ...SUITES.map((suite) => ({
        test: {
          ...SETTINGS,
          name: `${suite.name}:long`,
          include: inFolder(suite, ['*']),
          exclude: inFolder(suite, suite.quick),
          sequence: { groupOrder: 1 },
          // Many wait for timers of systemd, Prometheus or Alertmanager: three files fill two cores.
          maxWorkers: 3,
          globalSetup: ['test/support/sweep.ts', 'test/support/coverage-folder.ts'],
        },
      })),
    ],
  },
})
