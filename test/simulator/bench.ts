import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { systemClock } from '../../src/core/clock.ts'
import { parseScenario } from '../../simulator/scenario/scenario.ts'
import { createSimulator } from '../../simulator/simulator.ts'

const SOME_TROUBLE = '0s execution crashes SIGKILL\n0s otelcol stops'

/** A simulator and its real tools; by itself with an execution that crashed and a collector that was stopped. */
export const startBench = async (scenario = SOME_TROUBLE) => {
  const directory = await mkdtemp(join(tmpdir(), 'simulator-tools-'))
  const simulator = await createSimulator({
    clock: systemClock,
    prefix: 'zephyr',
    scenario: parseScenario('test', scenario),
    directory,
  })
  const bin = simulator.binDirectory
  /** Started as the agent starts its tools: with next to no environment. */
  const launch = (name: string, argv: readonly string[]) =>
    spawn(join(bin, name), argv, {
      env: { PATH: bin, TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  return {
    simulator,
    launch,
    run: async (name: string, ...argv: readonly string[]) => {
      const child = launch(name, argv)
      const closed = once(child, 'close')
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
      await closed
      return { stdout, stderr, code: child.exitCode }
    },
    close: async () => {
      await simulator.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
