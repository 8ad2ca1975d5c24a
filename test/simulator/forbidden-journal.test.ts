import { expect, test } from 'vitest'
import { createChain } from '../../simulator/chain.ts'
import { loadScenario } from '../../simulator/scenario/scenario.ts'
import { createSimulatedHost } from '../../simulator/simulator.ts'
import { createInProcessExec } from '../../simulator/commands/demo/fleet/in-process.ts'
import { cli } from '../support/cli.ts'
import { manualClock } from '../support/manual-clock.ts'
import { temporaryFolder } from '../support/directory.ts'

const directory = await temporaryFolder()

test.each([
  // Of a past time, it reads nothing but the journal.
  [['monlog', '--until', '2026-03-01T12:10:00Z'], 2],
  [['ledger'], 1],
  [['logs', 'bft'], 1],
])('%j cannot read the journal of no-journal-permission either', async (command, code) => {
  const clock = manualClock(Date.UTC(2026, 2, 1, 12, 10))
  const { tools } = await createSimulatedHost({
    clock,
    directory,
    prefix: 'zephyr',
    scenario: await loadScenario('no-journal-permission'),
    chain: createChain(3),
    // The journal is forbidden from second 30 to second 150.
    elapsedMs: 60_000,
  })
  const exec = createInProcessExec(tools)
  const seen = await cli([...command, '--prefix', 'zephyr'], { clock, overrides: { exec } })
  expect(seen.code).toBe(code)
  expect(`${seen.out}${seen.err}`).toContain('systemd-journal')
})
