import type { Situation } from './situation.ts'

/** The documented recovery procedures, and the preconditions that must be fixed before them. */
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
  | 'fix host'
  | 'restore keys'
  | 'unknown'

/** The recovery procedure that the node needs now. */
export interface RecoveryPlan {
  readonly path: Path
  /** One sentence, without its full stop. */
  readonly says: string
  /** Why this one, in addition to the evidence that is listed for every node; one fact each. */
  readonly why: readonly string[]
  /** The steps in order; a command is at the end of its step, between backticks. */
  readonly steps: readonly string[]
  /** What not to do, because it would make things worse. */
  readonly notNow: readonly string[]
  /** The runbook in docs/runbooks with more. */
  readonly runbook: string | null
}

/** Returns a plan if its condition holds. */
export type RecoveryRule = (situation: Situation) => RecoveryPlan | undefined

export const NEVER_ALONE =
  'Do not restart consensus alone: the running execution has been seen to abort on an assertion.'
export const NO_REBOOT = 'Do not reboot the host: a boot takes longer than the blocksync window.'

const units = ({ bft, execution, rpc }: Situation): string => [bft, execution, rpc].map(({ unit }) => unit).join(' ')

export const startAll = (situation: Situation): string => `sudo systemctl start ${units(situation)}`
export const restartAll = (situation: Situation): string => `sudo systemctl restart ${units(situation)}`
export const stopAll = (situation: Situation): string => `sudo systemctl stop ${units(situation)}`

/** The step that suppresses alerts during the recovery. */
export const setMaintenance = (span: string, reason: string): string =>
  `Set a maintenance window: \`sudo chain-agent maintenance start ${span} --reason ${reason}\``

/** From this many blocks behind, the node itself advises a snapshot before the start. */
export const SNAPSHOT_FROM = 30_000

/** The commands of a hard reset are those of the node's vendor: they differ by network and release, and one of them empties the database. */
export const hardReset = (situation: Situation): readonly string[] => [
  setMaintenance('4h', 'other'),
  `Stop the services together: \`${stopAll(situation)}\``,
  "Reset the workspace, restore the newest snapshot of your network and take a new forkpoint, exactly as in the vendor's documentation of the hard reset; keep the keys and their backups.",
  `Start the services together: \`${startAll(situation)}\``,
  'Check that statesync and blocksync catch up with the network: `chain-agent status statesync --watch`',
]
