import { z } from 'zod'

/** The simulated nodes and their profiles, as the demo serves them in /fleet.json. */
export const fleetSchema = z.array(
  z.object({ name: z.string(), fate: z.string(), publicKey: z.string(), metrics: z.string() }),
)

export type FleetNodes = z.output<typeof fleetSchema>

/** The state of a node in the table of all nodes, by profile; 1 for a profile that is not listed. */
export const STATES: Readonly<Record<string, number>> = {
  maintenance: 2,
  statesync: 3,
  behind: 5,
  'rpc-frozen': 5,
  stalled: 6,
  deadlock: 6,
  'far-behind': 6,
  crashed: 7,
  'node-down': 7,
  'agent-gone': 8,
}

/** Profiles without metrics of consensus: the running version is unknown. */
export const SILENT = ['agent-gone', 'crashed', 'node-down', 'maintenance', 'zombie-metrics']

/** Profiles with a stake of 0. */
export const STAKELESS = ['left-active-set']

/**
 * Alerts that depend on a few own rounds, and the share of healthy nodes on which they may be active: six in ten
 * thousand have more timeouts than chance explains, and one in a thousand leads too few rounds.
 */
export const BY_CHANCE: Readonly<Record<string, number>> = {
  ChainLeaderTimeouts: 0.03,
  'ChainLeaderTimeouts.shortfall': 0.1,
}

interface Question {
  /** The title of a panel of the fleet dashboard, and the letter of the target. */
  readonly panel: string
  readonly target?: string
  /** Selects the relevant results. */
  readonly where: string
  /** The profiles of the nodes in the result, and no others. */
  readonly names: readonly string[]
}

/** A node that is behind does not vote; a node without stake does not need to. */
export const QUESTIONS: readonly Question[] = [
  { panel: 'Agents that are gone', where: '>= 8', names: ['agent-gone'] },
  {
    panel: 'Furthest behind',
    where: '> 5',
    names: ['behind', 'far-behind', 'rpc-frozen', 'stalled', 'deadlock', 'crashed'],
  },
  {
    panel: 'Oldest newest block',
    where: '> 30',
    names: ['stalled', 'deadlock', 'far-behind', 'crashed', 'node-down', 'maintenance', 'statesync'],
  },
  { panel: 'Fewest votes', where: '< 0.5', names: ['behind', 'far-behind', 'not-voting'] },
  { panel: 'Fewest sessions', where: '< 5', names: ['isolated'] },
  { panel: 'Fullest databases', where: '> 0.75', names: ['storage-filling', 'storage-full'] },
  { panel: 'Versions by node', where: '== 1', names: ['restart-pending'] },
  { panel: 'Nodes that are not ready for a fork', where: '> 0', names: ['fork-unready'] },
]
