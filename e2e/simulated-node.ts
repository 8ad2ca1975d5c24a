import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { nodeInfoSchema, renderConfig } from '../simulator/commands/demo/demo-texts.ts'
import { systemClock } from '../src/core/clock.ts'
import type { Scenario } from '../simulator/scenario/scenario.ts'
import { createSimulator } from '../simulator/simulator.ts'
import { startAgent, type Watched } from '../test/support/agent.ts'
import { must } from '../test/support/programs.ts'

export interface SimulatedNodeRun {
  readonly agent: Watched
  /** Start of the scenario, in milliseconds since the epoch. */
  readonly beganAt: number
  close(): Promise<void>
}

/** Sections of the configuration. */
interface ConfigSections {
  /** Those of the collectors, by their names, instead of those of the demo. */
  readonly intervals?: Readonly<Record<string, string>>
  readonly health?: object
  readonly alertmanagers?: object
}

/**
 * Starts a simulated node, and an agent with the configuration of the demo and these sections; with `disk` on a file
 * system of its own of that number of megabytes, which only root can create.
 */
export const startNode = async (
  scenario: Scenario,
  disk?: number,
  { intervals, ...sections }: ConfigSections = {},
): Promise<SimulatedNodeRun> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-e2e-'))
  if (disk !== undefined) {
    await must('mount', ['-t', 'tmpfs', '-o', `size=${disk}m`, 'chain-e2e', directory])
  }
  const beganAt = Date.now()
  const simulator = await createSimulator({
    clock: systemClock,
    prefix: 'chain',
    scenario,
    directory,
  })
  const text = renderConfig(nodeInfoSchema.parse(simulator), { directory, port: 0, ...(intervals && { intervals }) })
  const config = z.record(z.string(), z.unknown()).parse(parseYaml(text))
  const agent = await startAgent({ ...config, ...sections }, { PATH: simulator.binDirectory })
  return {
    agent,
    beganAt,
    close: async () => {
      await agent.stop()
      await simulator.close()
      if (disk !== undefined) await must('umount', [directory])
      await rm(directory, { recursive: true, force: true })
    },
  }
}
