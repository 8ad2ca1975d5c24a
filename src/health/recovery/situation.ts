import { z } from 'zod'
import { excerpt } from '../../core/errors.ts'
import type { SampleIndex } from '../../core/sample-index.ts'
import { minute, second } from '../../core/units.ts'
import { isSyncing } from '../../core/agreement.ts'
import { isAdvancing, servicesDown } from '../facts.ts'
import type { Evidence } from '../finding.ts'
import { type Picture, timestamp } from '../picture.ts'
import { type Gap, gapOf, newestAge } from './gap.ts'

/** What a recovery is decided by. */
export interface RecoveryEvidence extends Evidence, Pick<Picture, 'origin'> {
  /** So far behind, in blocks, peers still serve a node block by block. */
  readonly window: number
}

/** Of consensus, execution and RPC: how its service stands. */
interface Process {
  readonly unit: string
  /** By systemd, where it should run; what systemd does not tell is not down. */
  readonly isDown: boolean
  readonly startedAt: number | undefined
  readonly exitedAt: number | undefined
}

/** The node, as far as the choice of a way out depends on it. */
export interface Situation {
  readonly at: number
  readonly known: SampleIndex
  readonly word: string
  readonly window: number
  readonly bft: Process
  readonly execution: Process
  readonly rpc: Process
  /** Whether systemd told of its services. */
  readonly hasServices: boolean
  /** Whether an agent has watched it; else it was asked this once. */
  readonly isWatched: boolean
  /** Lines of the last ten minutes that mean trouble: the pattern's name, and for the worst its text. */
  readonly trouble: ReadonlyMap<string, string>
  /** Whether the logs could be searched. */
  readonly isLogKnown: boolean
  readonly gap: Gap | undefined
  /** Seconds since the own time of the newest block. */
  readonly age: number | undefined
  readonly isAdvancing: boolean
  /** Whether the RPC was asked and did not answer in time, once. */
  readonly isRpcLate: boolean
  /** Seconds since execution last said anything; undefined where nobody follows its log. */
  readonly executionSilent: number | undefined
  readonly isSyncing: boolean
  /** Consensus was started anew, and the execution beside it was not. */
  readonly isPartial: boolean
}

const servicesSchema = z.object({
  services: z.array(
    z.object({
      service: z.string(),
      unit: z.string(),
      startedAt: timestamp.nullish(),
      exitedAt: timestamp.nullish(),
    }),
  ),
})
const rpcSchema = z.object({ up: z.literal(false), reason: z.literal('timeout') })
const executionSchema = z.object({ lastEntryAt: timestamp })
const logsSchema = z.object({ trouble: z.record(z.string(), z.array(z.string())) })

export const readSituation = (evidence: RecoveryEvidence): Situation => {
  const { at, known, collectors, window } = evidence
  const readingOf = (wanted: string): unknown =>
    collectors.find(({ name }) => name === wanted)?.reading
  const shown = servicesSchema.safeParse(readingOf('services')).data?.services ?? []
  const trouble = logsSchema.safeParse(readingOf('logs')).data?.trouble
  const executedAt = executionSchema.safeParse(readingOf('execution')).data?.lastEntryAt
  const word = evidence.prefix ?? 'chain'
  const down = servicesDown(known)
  const processOf = (service: string): Process => {
    const facts = shown.find((one) => one.service === service)
    return {
      unit: facts?.unit.replace(/\.service$/, '') ?? `${word}-${service}`,
      isDown: down.includes(service),
      startedAt: facts?.startedAt ?? undefined,
      exitedAt: facts?.exitedAt ?? undefined,
    }
  }
  const [bft, execution, rpc] = [processOf('bft'), processOf('execution'), processOf('rpc')]
  return {
    at,
    known,
    word,
    window,
    bft,
    execution,
    rpc,
    hasServices: known.series('chain_service_active').length > 0,
    isWatched: evidence.origin === 'agent',
    trouble: new Map([...(trouble?.['bft'] ?? []), ...(trouble?.['execution'] ?? [])].map(split)),
    isLogKnown: trouble !== undefined,
    gap: gapOf(evidence, window),
    age: newestAge(evidence),
    isAdvancing: isAdvancing(evidence),
    isRpcLate: rpcSchema.safeParse(readingOf('rpc')).success,
    executionSilent:
      evidence.origin === 'agent' && executedAt !== undefined
        ? (at - executedAt) / second
        : undefined,
    isSyncing: isSyncing(known),
    isPartial:
      known.value('chain_service_partial_restart') === 1 ||
      (execution.isDown && !bft.isDown && endedAfterStartOf(bft, execution)),
  }
}

/** `assertion: text`, or the name alone. */
const split = (told: string): readonly [string, string] => {
  const at = told.indexOf(': ')
  return at < 0 ? [told, ''] : [told.slice(0, at), excerpt(told.slice(at + 2))]
}

/** Starts further apart than this were not one start of the node. */
const ONE_START_MS = 2 * minute

/** Whether execution, which ran before, ended beside a consensus that was started later. */
const endedAfterStartOf = (bft: Process, execution: Process): boolean => {
  if (bft.startedAt === undefined || execution.startedAt === undefined) return false
  const apart = bft.startedAt - execution.startedAt
  return apart > ONE_START_MS && (execution.exitedAt ?? 0) > bft.startedAt
}
