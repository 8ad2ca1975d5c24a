import { createChain } from '../../simulator/chain.ts'
import type { Entry } from '../../simulator/journal/entry.ts'
import { createNode } from '../../simulator/node.ts'
import type { SimulatedNode } from '../../simulator/subject.ts'
import { loadScenario, parseScenario } from '../../simulator/scenario/scenario.ts'
import type { Tool } from '../../simulator/tools/tools.ts'
import { manualClock } from '../support/manual-clock.ts'

export const chain = createChain(3)
export const BEGIN = Date.UTC(2026, 2, 1, 12, 10)

const start = (scenario: ReturnType<typeof parseScenario>) => {
  const clock = manualClock(BEGIN)
  const node = createNode({ clock, chain, prefix: 'zephyr', scenario })
  return {
    node,
    clock,
    /** Advances the clock to a second of the scenario. */
    to: async (seconds: number): Promise<void> => {
      await clock.advance(BEGIN + seconds * 1000 - clock.now())
    },
  }
}

/** A node in a scenario of the package, with a manual clock. */
export const play = async (name: string) => start(await loadScenario(name))

/** A node in a scenario of the given lines, with a manual clock. */
export const playLines = (...lines: readonly string[]) => start(parseScenario('test', lines.join('\n')))

/** The output of a tool that exits by itself. */
export const printed = async (tool: Tool, ...argv: readonly string[]): Promise<string> => {
  let stdout = ''
  for await (const frame of tool(argv, new AbortController().signal)) {
    if ('stdout' in frame) stdout += frame.stdout
  }
  return stdout
}

export const secondsOf = ({ realtimeUs }: Entry): number => (realtimeUs / 1000 - BEGIN) / 1000

/** The journal entries of a service after a second of the scenario, oldest first. */
export const logOf = (node: SimulatedNode, service: string, afterSecond = 0): readonly Entry[] =>
  node.journal
    .read(0)
    .filter(({ fields }) => fields['_SYSTEMD_UNIT'] === `zephyr-${service}.service`)
    .filter((entry) => secondsOf(entry) > afterSecond)

export const consensusLog = (node: SimulatedNode, afterSecond = 0): readonly Entry[] => logOf(node, 'bft', afterSecond)

export const textOf = ({ fields }: Entry): string => fields['MESSAGE'] ?? ''

/** An entry that has to be there. */
export const nth = (entries: readonly Entry[], index: number): Entry => {
  const entry = entries.at(index)
  if (!entry) throw new RangeError(`there are ${entries.length} entries, and none at ${index}`)
  return entry
}

export const saying = (entries: readonly Entry[], message: string): readonly Entry[] =>
  entries.filter((entry) => textOf(entry).includes(`"message":"${message}`))
