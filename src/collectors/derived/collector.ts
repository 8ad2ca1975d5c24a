import {
  databaseUsedRatio,
  isStarting,
  isSyncing,
  networkHead,
  newestBlock,
  statesyncProgress,
} from '../../domain/agreement.ts'
import { type Collector, metadataOf, poll } from '../../core/collector.ts'
import type { Context } from '../../core/clock.ts'
import { isObject } from '../../core/json.ts'
import { createSampleIndex, type Sample, sample, sampleIfKnown, type SampleIndex } from '../../core/metric.ts'
import { inSeconds, minute, second } from '../../core/units.ts'
import { blocksyncWindowOf, NODE_FACTS, statesyncThreshold } from '../../domain/node-facts.ts'
import { createSigningMonitor, type DutiesReading } from './duties.ts'
import {
  createBlockRate,
  createLag,
  createStartTimer,
  createStatesyncEstimator,
  createStorageGrowth,
  ownHeight,
  type StatesyncEstimate,
} from './estimates.ts'
import type { Settings, Uses } from '../dependencies.ts'
import { definition } from './definition.ts'

interface Reading {
  readonly blocksPerSecond: number | null
  readonly windowSize: number
  readonly windowBlocks: number | null
  readonly windowSeconds: number | null
  readonly lastStartSeconds: number | null
  readonly statesync: StatesyncEstimate
  readonly secondsUntilCompaction: number | null
  readonly zombie: boolean | null
  readonly isBlockRecent: boolean | null
  readonly duties: DutiesReading | null
  readonly identity: { readonly key: string; readonly isActive: boolean; readonly boot: string } | null
}

const SAVE_EVERY_MS = minute

/** Values derived from the samples of the other collectors: those that decide during an incident. */
export const derived = ({
  published,
  roundCounter,
  duties,
  ownKey,
  blocksyncWindow,
  readBootId,
  checkpoint,
  timing,
}: Uses<
  'published' | 'roundCounter' | 'duties' | 'ownKey' | 'readBootId' | 'checkpoint',
  Settings<typeof definition, 'blocksyncWindow'>
>): Collector<Reading> => {
  const rateOf = createBlockRate()
  const lagOf = createLag()
  const starts = createStartTimer()
  const estimateOf = createStatesyncEstimator()
  const growth = createStorageGrowth()
  const isSigning = createSigningMonitor()
  let savedAt: number | undefined
  // Without an ID two agents must count as two hosts.
  let boot: string = crypto.randomUUID()

  /** Growth and duties need hours of data, which must survive a restart of the agent. */
  const restore = async (): Promise<void> => {
    const { value: saved } = await checkpoint.read()
    if (!isObject(saved)) return
    growth.restore(saved['growth'])
    starts.restore(saved['start'])
    duties.restore(saved['duties'])
    // The status report with the own key is read every few minutes; the journal is read at once.
    if (typeof saved['key'] === 'string') ownKey.set(saved['key'])
  }

  const save = (): void => {
    void checkpoint.save({
      growth: growth.snapshot(),
      duties: duties.snapshot(),
      start: starts.snapshot(),
      key: ownKey.get(),
    })
  }

  const evaluate = (known: SampleIndex, { clock }: Context): Reading => {
    const [now, elapsed] = [clock.now(), clock.elapsed()]
    const newest = newestBlock(known)
    const rate = rateOf(newest, elapsed)
    const lag = lagOf({
      now,
      elapsed,
      own: ownHeight(known),
      blockAt: newest && newest.time * second,
      head: networkHead(known),
      difference: known.value('chain_block_difference'),
      rate,
    })
    const startedAt = known.value('chain_service_start_timestamp_seconds', { service: 'bft' })
    const lastStartSeconds = starts.add({
      now,
      startedAt: startedAt && startedAt * second,
      lag,
      blockAt: newest && newest.time * second,
      isSyncing: isSyncing(known),
    })
    const windowSize = blocksyncWindow ?? blocksyncWindowOf(statesyncThreshold(known))
    const windowBlocks = lag === null || isSyncing(known) ? null : Math.max(0, windowSize - lag)
    const used = databaseUsedRatio(known)
    if (used !== undefined) growth.add({ at: now, ratio: used })
    const counts = roundCounter.read()
    if (counts) duties.add(counts, known.value('chain_native_stake_ratio'), now)
    const key = ownKey.get()
    const signs = key === null ? null : isSigning(known, counts, elapsed)
    if (savedAt === undefined || elapsed - savedAt >= SAVE_EVERY_MS) {
      savedAt = elapsed
      save()
    }
    return {
      blocksPerSecond: rate,
      windowSize,
      windowBlocks,
      windowSeconds: windowBlocks === null || rate === null ? null : windowBlocks / rate,
      lastStartSeconds,
      statesync: estimateOf(statesyncProgress(known), { elapsed, now }),
      secondsUntilCompaction: used === undefined ? null : growth.secondsUntil(NODE_FACTS.compactionStart.value),
      zombie: isZombie(known, now),
      isBlockRecent: isBlockRecent(known, now),
      duties: duties.read(),
      identity: key === null || signs === null ? null : { key, isActive: signs, boot },
    }
  }

  return {
    ...metadataOf(definition, timing),
    run: async (context, report) => {
      const [id] = await Promise.all([readBootId(), restore()])
      boot = id?.trim() ?? boot
      await poll(timing, (inner) => Promise.resolve(evaluate(createSampleIndex(published()), inner)))(context, report)
      save()
    },
    samples,
    // Whether another value is a problem is decided by the alert rules.
    states: ({ isBlockRecent: isRecent }) =>
      isRecent === null ? {} : { 'newest block': isRecent ? 'recent' : 'more than 10 s old' },
    warnings: ({ isBlockRecent: isRecent }) => (isRecent === false ? ['newest block'] : []),
  }
}

/** As for ChainBlockStalled: 25 to 33 blocks. */
const RECENT_MS = 10 * second

/** Null while the time of the newest block is unknown, and while none is expected. */
const isBlockRecent = (known: SampleIndex, now: number): boolean | null => {
  const newest = newestBlock(known)
  if (newest === undefined || isSyncing(known) || isStarting(known)) return null
  return now - newest.time * second <= RECENT_MS
}

const ADVANCED_WITHIN_MS = minute / 2

/** Whether the metrics of consensus do not change while blocks advance. Null while either is unknown. */
const isZombie = (known: SampleIndex, now: number): boolean | null => {
  const frozen = known.value('chain_native_frozen')
  const advancedAt = known.value('chain_rpc_last_advance_timestamp_seconds')
  if (frozen === undefined || advancedAt === undefined) return null
  return frozen === 1 && now - advancedAt * second < ADVANCED_WITHIN_MS
}

const samples = (reading: Reading): readonly Sample[] => {
  const { statesync, duties, identity } = reading
  return [
    ...sampleIfKnown('chain_blocks_per_second', reading.blocksPerSecond),
    sample('chain_blocksync_window_blocks', reading.windowSize),
    ...sampleIfKnown('chain_blocksync_window_remaining_blocks', reading.windowBlocks),
    ...sampleIfKnown('chain_blocksync_window_remaining_seconds', reading.windowSeconds),
    ...sampleIfKnown('chain_last_start_seconds', reading.lastStartSeconds),
    ...sampleIfKnown('chain_statesync_eta_seconds', statesync.etaSeconds),
    ...sampleIfKnown('chain_statesync_last_progress_timestamp_seconds', inSeconds(statesync.lastProgressAt)),
    ...sampleIfKnown('chain_storage_compaction_eta_seconds', reading.secondsUntilCompaction),
    ...sampleIfKnown('chain_native_zombie', reading.zombie),
    ...(duties === null ? [] : dutySamples(duties, identity !== null)),
    ...sampleIfKnown('chain_duty_identity_active', identity?.isActive, {
      identity: identity?.key ?? '',
      boot: identity?.boot ?? '',
    }),
  ]
}

/** A ratio of 0 rounds is unknown; the own rounds are unknown without the own key. */
const dutySamples = (duties: DutiesReading, isOwnKeyKnown: boolean): readonly Sample[] => {
  const { rounds, timeouts, ownBlocks, ownTimeouts, expected, shortfallProbability } = duties
  const own = ownBlocks + ownTimeouts
  return [
    ...sampleIfKnown('chain_duty_timeout_ratio', rounds === 0 ? null : timeouts / rounds, { scope: 'network' }),
    ...(isOwnKeyKnown
      ? [
          ...sampleIfKnown('chain_duty_timeout_ratio', own === 0 ? null : ownTimeouts / own, { scope: 'own' }),
          sample('chain_duty_slots', ownBlocks, { result: 'block' }),
          sample('chain_duty_slots', ownTimeouts, { result: 'timeout' }),
          ...sampleIfKnown('chain_duty_expected_slots', expected),
          ...sampleIfKnown('chain_duty_shortfall_probability_ratio', shortfallProbability),
        ]
      : []),
  ]
}
