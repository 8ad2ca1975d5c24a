import { z } from 'zod'

/** The truth about the simulated nodes, as the demo tells it. */
export const fleetSchema = z.array(
  z.object({ name: z.string(), fate: z.string(), publicKey: z.string(), metrics: z.string() }),
)

export type Truth = z.output<typeof fleetSchema>

/** The numbers that the table of all nodes has for what a node does; 1 where a fate is not named here. */
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

/** Whose consensus says nothing, so that the version it runs is unknown. */
export const SILENT = ['agent-gone', 'crashed', 'node-down', 'maintenance', 'zombie-metrics']

/** Who says a stake of 0. */
export const STAKELESS = ['left-active-set']

/**
 * Alerts about a few own rounds, and on how large a part of the nodes that are well they may stand: timeouts are more
 * than chance explains on six in ten thousand, and one in a thousand leads too few.
 */
export const BY_CHANCE: Readonly<Record<string, number>> = {
  ChainLeaderTimeouts: 0.03,
  ChainProposalShortfall: 0.1,
}

interface Question {
  /** The title of a panel of the fleet dashboard, and the letter of the target. */
  readonly panel: string
  readonly target?: string
  /** What of the answer is worth naming. */
  readonly where: string
  /** The fates of the nodes that it names, and of no others. */
  readonly names: readonly string[]
}

/** A node that is behind casts no votes; who has no stake need not. */
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
    names: [
      'stalled',
      'deadlock',
      'far-behind',
      'crashed',
      'node-down',
      'maintenance',
      'statesync',
    ],
  },
  { panel: 'Fewest votes', where: '< 0.5', names: ['behind', 'far-behind', 'not-voting'] },
  { panel: 'Fewest sessions', where: '< 5', names: ['isolated'] },
  { panel: 'Fullest databases', where: '> 0.75', names: ['storage-filling', 'storage-full'] },
  { panel: 'Who runs what', where: '== 1', names: ['restart-pending'] },
  { panel: 'Nodes that lack what a fork asks for', where: '> 0', names: ['fork-unready'] },
]
