import { expect, it } from 'vitest'
import { requireStrace } from '../support/strace.ts'
import { secretOf, temporaryFilesIn } from './bench.ts'
import { createScenario, expectIntact, type Scenario, SCENARIOS } from './scenarios.ts'
import { runTraced, injectAt, type Target } from './fault-injection.ts'

const describe = await requireStrace()

/** A realistic error for each call. */
const ERRORS: Readonly<Record<string, string>> = {
  openat: 'EACCES',
  write: 'ENOSPC',
  mkdir: 'ENOSPC',
  fsync: 'EIO',
  link: 'EIO',
  rename: 'EIO',
  fchmod: 'EIO',
  fchown: 'EPERM',
  unlink: 'EIO',
  rmdir: 'EIO',
}

/** Failures of clean-up, and of the search for files to clean up, do not fail the command. */
const isBeside = ({ call, signature }: Target): boolean =>
  call === 'unlink' || call === 'rmdir' || /O_DIRECTORY|\.made/.test(signature)

/** Both key types run the same code: the kill tests run both in one command, here each runs once. */
const ROWS: readonly Scenario[] = [
  ...SCENARIOS.backup.map((scenario) => ({ ...scenario, argv: ['backup', '--type', 'secp'] })),
  ...SCENARIOS.restore,
]

/** Some twenty runs a scenario. */
const TIMEOUT_MS = 180_000

describe('a failing system call', () => {
  it.each(ROWS)(
    '$name: the error is printed, the existing files stay, and no temporary file is left',
    async (scenario) => {
      const whole = await createScenario(scenario)
      const { targets } = await runTraced(whole.bench, scenario.argv)
      expect(targets.length).toBeGreaterThan(10)
      const placed = targets.findIndex(({ call }) => call === 'rename')
      for (const [at, target] of targets.entries()) {
        // mkdir of an existing directory does not fail with ENOSPC.
        if (target.call === 'mkdir' && target.result !== '0') continue
        const error = ERRORS[target.call] ?? 'EIO'
        const { bench, before, ended } = await injectAt(
          async () => createScenario(scenario),
          { argv: scenario.argv, target, what: `error=${error}` },
          async (other) => expectIntact(other.bench, other.before),
        )
        const about = `${target.signature} ${error}: ${ended.stderr}`
        await expectIntact(bench, before)
        const after = await bench.look()
        expect(`${ended.stdout}${ended.stderr}`, about).not.toContain(secretOf('secp'))
        if (!isBeside(target)) {
          expect(ended.code, about).toBe(1)
          expect(ended.stderr, about).toMatch(/Could not [^\n]+: [^\n]+\n {2}what to do: [^\n]+/)
          expect(temporaryFilesIn(after), about).toEqual([])
        }
        // Before the rename everything is unchanged, except for the link to the old file.
        if (at <= placed && ended.code !== 0) {
          for (const [name, was] of Object.entries(before)) expect(after[name], about).toEqual(was)
        }
      }
    },
    TIMEOUT_MS,
  )
})
