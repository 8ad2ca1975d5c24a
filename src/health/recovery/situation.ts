import { excerpt } from '../../core/errors.ts'
import type { SampleIndex } from '../../core/sample-index.ts'
import { minute, second } from '../../core/units.ts'
import { isSyncing } from '../../core/agreement.ts'
import { isAdvancing, servicesDown } from '../facts.ts'
import type { HealthInput } from '../finding.ts'
import type { NodeSnapshot } from '../snapshot.ts'
import { type Gap, gapOf, newestAge } from './gap.ts'

/** Everything that a recovery plan is chosen from. */
export interface RecoveryInput extends HealthInput, Pick<NodeSnapshot, 'origin'> {
  /** Size of the blocksync window, in blocks: peers serve a node that is no further behind. */
  readonly window: number
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
export interface Situation {
  readonly at: number
  readonly known: SampleIndex
  readonly prefix: string
  readonly window: number
  readonly bft: ServiceState
  readonly execution: ServiceState
  readonly rpc: ServiceState
  /** Whether systemd reported its services. */
  readonly hasServices: boolean
  /** Whether a running agent has monitored it; otherwise there was only a single round of collectors. */
  readonly isMonitored: boolean
  /** Trouble lines of the last ten minutes: the name of the pattern, and the text of the most severe ones. */
  readonly trouble: ReadonlyMap<string, string>
  /** Whether the logs could be searched. */
  readonly isLogKnown: boolean
  readonly gap: Gap | undefined
  /** Seconds since the own time of the newest block. */
  readonly age: number | undefined
  readonly isAdvancing: boolean
  /** Whether a single request to the RPC timed out. */
  readonly isRpcLate: boolean
  /** Seconds since the last log entry of execution; undefined if no agent follows its log. */
  readonly executionSilent: number | undefined
  readonly isSyncing: boolean
  /** Whether consensus was restarted without execution. */
  readonly isPartial: boolean
}

export const readSituation = (input: RecoveryInput): Situation => {
  const { at, known, readings, window } = input
  const services = readings.services?.services ?? []
  const trouble = readings.logs?.trouble ?? undefined
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
    window,
    bft,
    execution,
    rpc,
    hasServices: known.series('chain_service_active').length > 0,
    isMonitored: input.origin === 'agent',
    trouble: new Map([...(trouble?.['bft'] ?? []), ...(trouble?.['execution'] ?? [])].map(nameAndText)),
    isLogKnown: trouble !== undefined,
    gap: gapOf(input, window),
    age: newestAge(input),
    isAdvancing: isAdvancing(input),
    isRpcLate: readings.rpc?.up === false && readings.rpc.reason === 'timeout',
    executionSilent: input.origin === 'agent' && executedAt !== undefined ? (at - executedAt) / second : undefined,
    isSyncing: isSyncing(known),
    isPartial:
      known.value('chain_service_partial_restart') === 1 ||
      (execution.isDown && !bft.isDown && endedAfterStartOf(bft, execution)),
  }
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

/** The state of each secret file of the node. */
export const keyFiles = ({ known }: Pick<Situation, 'known'>) =>
  known
    .series('chain_key_file_state')
    .filter(({ value }) => value === 1)
    .map(({ labels: { key = '', kind = '', state = '' } }) => ({ key, kind, state }))

/** Whether all key files and backups are missing where they were expected: the node uses another directory, or other keys. */
export const areKeyFilesElsewhere = (situation: Pick<Situation, 'known'>): boolean => {
  const files = keyFiles(situation)
  return files.length > 1 && files.every(({ state }) => state === 'missing')
}
