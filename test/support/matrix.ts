import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

interface Suite {
  readonly name: string
  /** From the root of the checkout. */
  readonly files: readonly string[]
  /** Whether `npm run test:all` has other tests for one version; else it runs these. */
  readonly isOther?: true
  /** The version of `npm run test:all`. */
  readonly landing: string
  /** What no test of `npm run test:all` detects. */
  readonly catches: string
  /** Why one version is enough for each change. */
  readonly enough: string
}

const filesOf = (folder: string, names: readonly string[]): readonly string[] =>
  names.map((name) => `test/${folder}/${name}.test.ts`)

/** The suites of `npm run test:matrix`: the versions that `npm run test:all` does not run. */
export const MATRIX: readonly Suite[] = [
  {
    name: 'Node.js',
    files: filesOf('nodes', ['nodes']),
    isOther: true,
    landing: 'that of the Debian package',
    catches: 'a call of Node.js that an older version answers in another way',
    enough:
      '`npm run check` compiles against the types of Node.js 20 and the library of ES2023: a function that 20 does not have is an error',
  },
  {
    name: 'Prometheus',
    files: filesOf('alerts', ['versions']),
    isOther: true,
    landing: '3.5',
    catches: 'a rule or a setting that 2.x rejects, or evaluates in another way than 3.5 and the agent',
    enough:
      '`test/alerts/rules.test.ts` rejects the syntax in which the versions differ, every scenario is compared with 3.5, and the pages of the documentation run with 2.42 of Debian 12',
  },
  {
    name: 'Alertmanager',
    files: filesOf('alerts', ['alertmanager', 'alert-test', 'clocks', 'messages', 'report']),
    landing: '0.33',
    catches:
      'a route or a setting that an older version reads in another way; metrics of deliveries with other names, which `alert test` reads',
    enough: 'the pages of the documentation run with 0.25 of Debian 12: configuration, `alert test`, message',
  },
  {
    name: 'VictoriaMetrics (vmalert)',
    files: filesOf('prometheus', ['vmalert']),
    landing: '1.145',
    catches: 'a rule that an older vmalert does not load',
    enough: 'the rules are those of Prometheus, and promtool checks each',
  },
  {
    name: 'Official client',
    files: filesOf('official-client', ['balances', 'events', 'head', 'interruptions', 'pages', 'random', 'requests']),
    landing: '1.4.1',
    catches: 'an answer of the query API that only an older client rejects or reads in another way',
    enough: 'unit tests compare each dialect of the API with a naive filter',
  },
  {
    name: 'Debian 13',
    files: filesOf('package', ['debian-13']),
    isOther: true,
    landing: 'Debian 12',
    catches: 'a unit, a maintainer script or a format of the journal that systemd 257 treats in another way than 252',
    enough: 'the same packages are installed, upgraded, removed and purged on Debian 12, the oldest that is supported',
  },
  {
    name: 'apt',
    files: filesOf('package', ['release']),
    landing: '2.6 of Debian 12',
    catches: 'a signature or an index that apt 3.0 of Debian 13 rejects: it verifies signatures with another program',
    enough: 'a change of the agent does not change the format of the repository',
  },
  {
    name: 'Mutations of rules',
    files: filesOf('alerts', ['mutation']),
    landing: 'the rules of `uptime`',
    catches: 'a limit, duration or operator of a rule that no unit test depends on',
    enough: 'it finds missing tests, not wrong rules: each rule has tests in which it fires and in which it does not',
  },
]

const PAGE = 'test/README.md'

/** Writes the page of the matrix after a run that contains every suite of it. */
class MatrixPage implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const own = modules.filter(({ project }) => project.name === 'matrix')
    const rows = MATRIX.map((suite) => resultOf(suite, own))
    if (rows.every((row) => row !== undefined)) writeFileSync(PAGE, render(rows))
  }
}

// Vitest asks for a default export here.
// oxlint-disable-next-line import/no-default-export
export default MatrixPage

/** The cells of the suite; nothing if a file of it did not run. */
const resultOf = ({ name, files }: Suite, modules: readonly TestModule[]): readonly string[] | undefined => {
  const own = modules.filter(({ relativeModuleId }) => files.includes(relativeModuleId))
  if (own.length < files.length) return undefined
  const tests = own.flatMap(({ children }) => [...children.allTests()])
  const parts = new Map(tests.flatMap((test) => test.meta().realPart ?? []).map((part) => [part.name, part]))
  const versions = [...parts.values()].map(({ name: part, ran, detail }) =>
    ran ? (part.endsWith(detail) ? part : `${part}: ${detail}`) : `${part} did not run: ${detail.split('\n')[0]}`,
  )
  const count = (...states: readonly string[]): number =>
    tests.filter((test) => states.includes(test.result().state)).length
  const failed = count('failed', 'pending') + own.reduce((sum, module) => sum + module.errors().length, 0)
  return [name, versions.join('; '), `${count('passed')}`, `${failed}`, `${count('skipped')}`]
}

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()

const render = (rows: readonly (readonly string[])[]): string => {
  const changes = git('status', '--porcelain', '--untracked-files=no', '--', '.', `:!${PAGE}`)
  const what = MATRIX.map(({ name, files, landing, catches, enough }) => [
    name,
    files.length > 2 ? `\`${files[0]?.replace(/[^/]+$/, '')}\`` : files.map((file) => `\`${file}\``).join(', '),
    landing,
    catches,
    enough,
  ])
  return `# Test matrix

Written by \`npm run test:matrix\`, which runs for a release: the tests with the versions that \`npm run test:all\` does not use.

- ${new Date().toISOString().slice(0, 16)}Z; commit ${git('rev-parse', 'HEAD')}${changes === '' ? '' : ', with changes'}
- The tests ran with Node.js ${process.versions.node}.

${tableOf(['suite', 'versions', 'passed', 'failed', 'skipped'], rows)}

## What each suite alone detects

\`npm run test:all\`, which runs for each change, uses one version of each part.

${tableOf(['suite', 'files', 'version of `test:all`', 'detects alone', 'why one version is enough for a change'], what)}

## Run a suite

One suite, without writing this page:

\`\`\`sh
npm run build && npm run build:modules
npx vitest run --project matrix test/official-client
\`\`\`

The suites need root, the npm registry and an archive of Debian; one whose parts are missing is skipped, and the row has the
reason. \`npm run e2e:alertmanagers\` (ten failures, with Alertmanager 0.25 and 0.33) takes a quarter of an hour and runs alone.
`
}
