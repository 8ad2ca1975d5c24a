import { expect } from 'vitest'
import { temporaryFilesIn } from './bench.ts'
import { runKeys } from './in-process.ts'
import { createScenario, endState, expectIntact, type Scenario } from './scenarios.ts'
import { runTraced, injectAt, type Target } from './fault-injection.ts'

/** Kills a command at each of its calls on the node's files, one run per call. Returns the number of calls. */
export const killAtEachCall = async (scenario: Scenario): Promise<number> => {
  const { targets, end } = await undisturbed(scenario)
  for (const target of targets) {
    expect(await kill(scenario, target), target.signature).toEqual(end)
  }
  return targets.length
}

/** The calls of a run without faults, and the files that it leaves. */
const undisturbed = async (scenario: Scenario) => {
  const { bench, before } = await createScenario(scenario)
  const { ended, targets } = await runTraced(bench, scenario.argv)
  expect(ended, ended.stderr).toMatchObject({ code: 0 })
  await expectIntact(bench, before)
  const end = await endState(bench)
  await bench.remove()
  return { targets, end }
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
  const end = await endState(bench)
  await bench.remove()
  return end
}
