import { minute, second } from '../../core/units.ts'
import { isSyncing } from '../../domain/agreement.ts'
import {
  BEHIND_BLOCKS,
  blockAge,
  databaseEvidence,
  isAdvancing,
  keyFilesOf,
  servicesDown,
  systemdFailure,
} from '../facts.ts'
import { excerpt } from '../../core/errors.ts'
import { isUnreadable } from '../../domain/log-state.ts'
import { blocksOf, blocksyncWindow, byDefault, NODE_FACTS, statesyncThreshold } from '../../domain/node-facts.ts'
import { epochEnd, epochEndText } from '../epoch-end.ts'
import { blocksyncLeft, gapOf, leftText } from '../gap.ts'
import { nodePresence } from '../monitor.ts'
import type { HealthInput, NodeSnapshot } from '../snapshot.ts'
import { count, figure, shortDuration } from '../../core/format.ts'

/** Everything that a recovery plan is chosen from. */
export type RecoveryInput = HealthInput &
  Pick<NodeSnapshot, 'origin' | 'epochs' | 'devices'> & {
    readonly health: Pick<NodeSnapshot['health'], 'findings'>
  }

/** State of the service of consensus, execution or RPC. */
interface ServiceState {
  readonly unit: string
  /** Whether systemd reports that it should run and does not; unknown is not down. */
  readonly isDown: boolean
  readonly startedAt: number | undefined
  readonly exitedAt: number | undefined
}

/** The facts about a node that the recovery rules use. */
export type Situation = ReturnType<typeof readSituation>

export const readSituation = (input: RecoveryInput) => {
  const { at, known, readings, devices } = input
  const services = readings.services?.services ?? []
  const { logs } = readings
  const trouble = logs?.trouble ?? undefined
  const executedAt = readings.execution?.lastEntryAt ?? undefined
  const prefix = input.prefix ?? 'chain'
  const down = servicesDown(known)
  const serviceOf = (service: string): ServiceState => {
    const facts = services.find((one) => one.service === service)
    return {
      unit: facts?.unit?.replace(/\.service$/, '') ?? `${prefix}-${service}`,
      isDown: down.includes(service),
      startedAt: facts?.startedAt ?? undefined,
      exitedAt: facts?.exitedAt ?? undefined,
    }
  }
  const [bft, execution, rpc] = [serviceOf('bft'), serviceOf('execution'), serviceOf('rpc')]
  return {
    at,
    known,
    prefix,
    /** Size of the blocksync window, in blocks: a node that is no further behind can catch up. */
    window: blocksyncWindow(known),
    devices,
    bft,
    execution,
    rpc,
    /** By the samples: the health does not report it with a critical finding, or without an evaluation. */
    node: nodePresence(known.series),
    /** What came from systemd instead of an answer, if it did not. */
    systemdFailure: systemdFailure(input),
    /** Whether a running agent has monitored it; otherwise there was only a single round of collectors. */
    isMonitored: input.origin === 'agent',
    /** Trouble lines of the last ten minutes: the name of the pattern, and the text of the most severe ones. */
    trouble: new Map([...(trouble?.['bft'] ?? []), ...(trouble?.['execution'] ?? [])].map(nameAndText)),
    /** Whether the logs could be searched. */
    isLogKnown: trouble !== undefined && !['bft', 'execution'].some((one) => isUnreadable(one, logs?.states.get(one))),
    gap: gapOf(input),
    /** Seconds since the own time of the newest block. */
    age: blockAge(input),
    isAdvancing: isAdvancing(input),
    /** The finalized block of each reference, and of the node. */
    comparisons: (readings.reference?.references ?? []).flatMap(({ comparison }) => comparison ?? []),
    /** Whether a single request to the RPC timed out. */
    isRpcLate: readings.rpc?.up === false && readings.rpc.reason === 'timeout',
    /** Seconds since the last log entry of execution; undefined if no agent follows its log. */
    executionSilent: input.origin === 'agent' && executedAt !== undefined ? (at - executedAt) / second : undefined,
    isSyncing: isSyncing(known),
    /** Whether the critical rule of ChainStatesyncFrozen holds: neither the estimate nor the use of the database changes. */
    isStatesyncFrozen: input.health.findings.some(
      ({ alert, severity }) => alert === 'ChainStatesyncFrozen' && severity === 'critical',
    ),
    /** Whether consensus was restarted without execution. */
    isPartial:
      known.value('chain_service_partial_restart') === 1 ||
      (execution.isDown && !bft.isDown && endedAfterStartOf(bft, execution)),
    /** When the epoch ends, or why that is not known. */
    epoch: epochText(input),
  }
}

const epochText = (input: RecoveryInput): string => {
  const end = epochEnd(input)
  return 'unknownBecause' in end ? `unknown: ${end.unknownBecause}` : epochEndText(end, input.at)
}

/** Splits `assertion: text`; a line may also be the name alone. */
const nameAndText = (line: string): readonly [string, string] => {
  const at = line.indexOf(': ')
  return at < 0 ? [line, ''] : [line.slice(0, at), excerpt(line.slice(at + 2))]
}

/** Services started further apart than this were not started together. */
const ONE_START_MS = 2 * minute

/** Whether consensus was started later than execution, which ended after that. */
const endedAfterStartOf = (bft: ServiceState, execution: ServiceState): boolean => {
  if (bft.startedAt === undefined || execution.startedAt === undefined) return false
  const apart = bft.startedAt - execution.startedAt
  return apart > ONE_START_MS && (execution.exitedAt ?? 0) > bft.startedAt
}

/** Whether all key files and backups are missing where they were expected: the node uses another directory, or other keys. */
export const areKeyFilesElsewhere = ({ known }: Pick<Situation, 'known'>): boolean => {
  const files = keyFilesOf(known)
  return files.length > 1 && files.every(({ state }) => state === 'missing')
}

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
  readonly summary: string
  /** Why this one, in addition to the evidence that is listed for every node; one fact each. */
  readonly why: readonly string[]
  /** The steps in order; a command is at the end of its step, between backticks. */
  readonly steps: readonly string[]
  /** What not to do, because it would make things worse. */
  readonly notNow: readonly string[]
  /** The runbook in docs/runbooks with more. */
  readonly runbook: string | null
}

/** A plan without the lists that are empty. */
export type WrittenPlan = Pick<RecoveryPlan, 'path' | 'summary' | 'runbook'> & Partial<RecoveryPlan>

/** Returns a plan if its condition holds. */
export type RecoveryRule = (situation: Situation) => WrittenPlan | undefined

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
export const SNAPSHOT_FROM = NODE_FACTS.snapshotAdvised.value

/** The evidence that is listed for every node, one fact each, including what is not known. */
export const evidenceOf = (situation: Situation, path: Path): readonly string[] => [
  ...distance(situation),
  // A start with the files of the node is then not enough, however near the network is.
  ...(situation.isSyncing || RESETS.includes(path) ? [] : windowLeft(situation)),
  databaseEvidence(situation.known),
  `Epoch: ${situation.epoch}.`,
  ...[...situation.trouble]
    .filter(([name, text]) => text !== '' && !(name === PANIC && isRepeated(text, situation)))
    .map(([name, text]) => `The log has ${name}: ${text}`),
  ...(areKeyFilesElsewhere(situation)
    ? ['No key file and no backup was found: check `node.directory`. Without keystores the node does not start.']
    : []),
  ...(situation.isLogKnown ? [] : ['The logs could not be searched.']),
]

/** Every panic matches it, also one that has a pattern of its own. */
const PANIC = 'panic'
const isRepeated = (text: string, { trouble }: Situation): boolean =>
  [...trouble].some(([name, other]) => name !== PANIC && other === text)

const RESETS: readonly Path[] = ['soft reset', 'hard reset']

/** Difference and age are of one block: the ledger stream may have a newer one than the state. */
const distance = ({ gap, age }: Situation): readonly string[] => {
  const isCompared = gap?.by === 'references'
  const seconds = gap ? gap.age : age
  const subject = isCompared ? 'The block that is compared' : 'Its newest block'
  const newest = seconds === undefined ? '' : ` ${subject} is ${shortDuration(seconds * second)} old.`
  if (!gap) return [`How far the node is behind is not known.${newest}`]
  const rpc = gap.rpcBlocks === undefined ? '' : `; its RPC is ${count(gap.rpcBlocks, 'block')} behind`
  const blocks = `${gap.isAtLeast ? 'at least ' : ''}${figure(gap.blocks)}`
  const by = {
    references: 'by the height that the references agree on',
    window: "by the agent's own estimate",
    age: 'by the age of its newest block; the height of the network is unknown',
  }[gap.by]
  return [`The node is ${blocks} blocks behind, ${by}${rpc}.${newest}`]
}

/**
 * What a start would do now after a plain stop: the files of the node agree, and its database has the root of the local
 * forkpoint. Undefined if the distance is unknown. Source: monad-bft, the function that a comment names, with a part of the log
 * line that shows the case.
 */
export const startOutlook = ({ gap, window, known }: Situation) => {
  if (!gap) return undefined
  const threshold = statesyncThreshold(known)
  return {
    /**
     * With the local files: consensus is live within milliseconds, and the next proposals show how far behind it is. It panics
     * from 3/2 of the threshold on (monad-consensus-state/src/lib.rs, maybe_statesync: high qc too far ahead of block tree root);
     * beyond the window peers reject its requests (monad-ledger/src/lib.rs, ledger_fetch_headers: headers response not available).
     */
    catchesUp: gap.blocks < blocksOf(NODE_FACTS.liveToStatesync, threshold) && gap.blocks <= window,
    /**
     * With both files from the URLs, if the remote forkpoint is newer by more than the threshold (monad-node/src/state.rs,
     * get_latest_configs: using remote configs): the database is behind its root. A round has at most one block.
     */
    statesyncsFromRemote: gap.blocks > blocksOf(NODE_FACTS.remoteForkpoint, threshold),
  }
}

/** How much of the blocksync window is left: until it closes, a start of the services is enough. */
const windowLeft = ({ at, window, known }: Situation): readonly string[] => {
  const limit = `A node can catch up with ${figure(window)} blocks${byDefault(known)} (the blocksync window)`
  const left = blocksyncLeft({ known, at })
  if (!left) return [`${limit}; how many are left is not known.`]
  const { blocks, ms } = left
  if (blocks === 0) return [`${limit}: none are left.`]
  return [`${limit}: ${count(blocks, 'block')} ${blocks === 1 ? 'is' : 'are'} left, ${leftText(ms, known)}.`]
}

/** Milliseconds until the blocksync window closes, while the node falls behind and can still catch up. */
export const timeLeft = ({ at, gap, known, isAdvancing: advances }: Situation): number | null => {
  const left = blocksyncLeft({ known, at })
  if (!gap || !left || advances || gap.blocks <= BEHIND_BLOCKS || left.blocks === 0) return null
  return left.ms
}
