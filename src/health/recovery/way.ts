import type { Situation } from './situation.ts'

/** The ways out that are documented for such a node, and those that come before them. */
export type Path =
  | 'none'
  | 'wait'
  | 'start'
  | 'restart together'
  | 'restart rpc'
  | 'soft reset'
  | 'hard reset'
  | 'upgrade'
  | 'migrate'
  | 'make room'
  | 'mend host'
  | 'restore keys'
  | 'unknown'

/** Which way the node needs now. */
export interface Way {
  readonly path: Path
  /** One sentence, without its full stop. */
  readonly says: string
  /** Why this one, beside what is said of every node; a fact each. */
  readonly why: readonly string[]
  /** A step each, in this order; a command stands last, between backticks. */
  readonly steps: readonly string[]
  /** What would make it worse. */
  readonly notNow: readonly string[]
  /** The page of docs/runbooks that has more. */
  readonly runbook: string | null
}

/** Looks for one reason to go one way; undefined where there is none. */
export type Finder = (situation: Situation) => Way | undefined

export const NEVER_ALONE =
  'Do not restart consensus alone: execution beside it has been seen to abort on an assertion.'
export const NO_REBOOT = 'Do not reboot the host for it: a boot takes longer than peers wait.'

const units = ({ bft, execution, rpc }: Situation): string =>
  [bft, execution, rpc].map(({ unit }) => unit).join(' ')

export const startAll = (situation: Situation): string => `sudo systemctl start ${units(situation)}`
export const restartAll = (situation: Situation): string =>
  `sudo systemctl restart ${units(situation)}`
export const stopAll = (situation: Situation): string => `sudo systemctl stop ${units(situation)}`

/** So that nobody is woken by what one does oneself. */
export const announce = (span: string, reason: string): string =>
  `Announce it: \`sudo chain-agent maintenance start ${span} --reason ${reason}\``

/** From so far on, in blocks, the node itself advises a snapshot before it is started. */
export const SNAPSHOT_FROM = 30_000

/** The commands are the maker's: they differ by network and release, and one of them empties the database. */
export const hardReset = (situation: Situation): readonly string[] => [
  announce('4h', 'other'),
  `Stop the services together: \`${stopAll(situation)}\``,
  "Reset the workspace, restore the newest snapshot of your network and take a new forkpoint, word for word as the maker's page on the hard reset has it; the keys and their backups stay.",
  `Start the services together: \`${startAll(situation)}\``,
  'See that statesync and blocksync bring it up to the network: `chain-agent status statesync --watch`',
]
