import { expect, it } from 'vitest'
import { requireStrace } from '../support/strace.ts'
import { runKeys, temporaryFilesIn } from './bench.ts'
import { createScenario, endState, expectIntact, type Scenario, SCENARIOS } from './scenarios.ts'
import { runTraced, injectAt, type Target } from './fault-injection.ts'

/** About thirty runs per scenario. */
const TIMEOUT_MS = 180_000

/** Kills a command at each of its calls on the node's files, one run per call. */
export const testKilled = async (command: keyof typeof SCENARIOS): Promise<void> => {
  const describe = await requireStrace()
  describe(`a ${command} that is killed`, () => {
    it.each(SCENARIOS[command])(
      '$name: at each call an intact key is left, and the next run completes the command',
      async (scenario) => {
        const { targets, end } = await undisturbed(scenario)
        for (const target of targets) expect(await kill(scenario, target), target.signature).toEqual(end)
        expect(targets.length).toBeGreaterThan(10)
      },
      TIMEOUT_MS,
    )
  })
}

/** The calls of a run without faults, and the files that it leaves. */
const undisturbed = async (scenario: Scenario) => {
  const { bench, before } = await createScenario(scenario)
  const { ended, targets } = await runTraced(bench, scenario.argv)
  expect(ended, ended.stderr).toMatchObject({ code: 0 })
  await expectIntact(bench, before)
  return { targets, end: await endState(bench) }
}

/** Kills the command on entry to the call: the call and everything after it are not executed. */
const kill = async (scenario: Scenario, target: Target) => {
  const { bench, before, ended } = await injectAt(
    async () => createScenario(scenario),
    { argv: scenario.argv, target, what: 'signal=SIGKILL' },
    async (other) => expectIntact(other.bench, other.before),
  )
  expect(ended).toMatchObject({ signal: 'SIGKILL' })
  await expectIntact(bench, before)
  const left = temporaryFilesIn(await bench.look())
  // `keys verify` reports the temporary files, and the key is still available.
  const verified = await runKeys(bench, ['verify', '--files-only', '--json'])
  for (const name of left) expect(verified.out).toContain(`${bench.folder}/${name}`)
  const again = await runKeys(bench, scenario.argv)
  expect(again, again.err).toMatchObject({ code: 0 })
  await expectIntact(bench, before)
  return endState(bench)
}
