import { type Collector, type Context, poll, type Timing } from '../../core/collector.ts'
import { createKnown, type Known } from '../../core/known.ts'
import { minute, second } from '../../core/units.ts'
import { isSyncing, networkHead, storageUse } from '../../core/witnesses.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import type { Checkpoint } from '../../sources/checkpoint.ts'
import { COMPACTION_THRESHOLD } from '../storage/definition.ts'
import { createBlockRate } from './block-rate.ts'
import { createLag } from './lag.ts'
import type { Duties, DutiesReading } from './duties.ts'
import { createGrowth } from './growth.ts'
import { createIdentity } from './identity.ts'
import * as views from './views.ts'
import type { OwnKey } from '../shared/node-state.ts'
import type { SlotCount } from './slots.ts'
import { STALE_BLOCK_S } from './verdict.ts'
import { createStatesyncPace, type Pace } from './statesync-pace.ts'
import type { OfferCollector } from '../dependencies.ts'
import { definition } from './definition.ts'

interface Parts {
  /** What the other collectors have published. */
  readonly published: () => Iterable<Sample>
  readonly slots: SlotCount
  /** Duties by these slots: it outlives the collector, as the count of slots does. */
  readonly duties: Duties
  readonly ownKey: OwnKey
  /** So far behind, in blocks, peers still serve a node block by block. */
  readonly blocksyncWindow: number
  readonly checkpoint: Checkpoint
  readonly timing: Timing
}

interface Reading {
  readonly blocksPerSecond: number | null
  /** Since the time of the newest block; null while statesync runs. */
  readonly blockAgeSeconds: number | null
  readonly blocksBehind: number | null
  readonly storageUsedRatio: number | null
  readonly windowBlocks: number | null
  readonly windowSeconds: number | null
  readonly statesync: Pace
  readonly secondsUntilCompaction: number | null
  readonly zombie: boolean | null
  readonly duties: DutiesReading | null
  readonly identity: { readonly key: string; readonly isActive: boolean } | null
}

const SAVE_EVERY_MS = minute
/** Ten seconds at the usual three blocks a second. */
const BEHIND_BLOCKS = 30
/** As in the alert ChainStorageFull: the database shortens its history from 80 % on, and has failed to. */
const FULL_RATIO = 0.85

/** What follows from the others: the figures that decide an incident. It asks nobody but the board. */
export const derived = (parts: Parts): Collector<Reading> => {
  const { published, slots, duties, ownKey, blocksyncWindow, checkpoint, timing } = parts
  const rateOf = createBlockRate()
  const lagOf = createLag()
  const paceOf = createStatesyncPace()
  const growth = createGrowth()
  const isActive = createIdentity()
  let savedAt: number | undefined

  /** What was learnt in hours must not be lost with a restart. */
  const restore = async (): Promise<void> => {
    const found = await checkpoint.read()
    if (found.state !== 'saved' || typeof found.value !== 'object' || found.value === null) return
    if ('growth' in found.value) growth.restore(found.value.growth)
    if ('duties' in found.value) duties.restore(found.value.duties)
    // Who we are was told by a report that comes every few minutes; the journal is read at once.
    if ('key' in found.value && typeof found.value.key === 'string') ownKey.set(found.value.key)
  }

  const save = (elapsed: number): void => {
    if (savedAt !== undefined && elapsed - savedAt < SAVE_EVERY_MS) return
    savedAt = elapsed
    saveNow()
  }

  const saveNow = (): void => {
    checkpoint.save({ growth: growth.snapshot(), duties: duties.snapshot(), key: ownKey.get() })
  }

  const think = (known: Known, { clock }: Context): Reading => {
    const [now, elapsed] = [clock.now(), clock.elapsed()]
    const newest = views.newestBlock(known)
    const rate = rateOf(newest, elapsed)
    const lag = lagOf({
      now,
      elapsed,
      own: views.ownHeight(known),
      blockAt: newest && newest.time * second,
      head: networkHead(known),
      difference: known.value('chain_block_difference'),
      rate,
    })
    const windowBlocks =
      lag === null || isSyncing(known) ? null : Math.max(0, blocksyncWindow - lag)
    const used = storageUse(known)
    if (used !== undefined) growth.add({ at: now, ratio: used })
    const counted = slots.read()
    if (counted) duties.add(counted, known.value('chain_native_stake_ratio'), now)
    const key = ownKey.get()
    const signs = key === null ? null : isActive(known, counted, elapsed)
    save(elapsed)
    return {
      blocksPerSecond: rate,
      blockAgeSeconds: newest === undefined || isSyncing(known) ? null : now / second - newest.time,
      blocksBehind: isSyncing(known) ? null : lag,
      storageUsedRatio: used ?? null,
      windowBlocks,
      windowSeconds: windowBlocks === null || rate === null ? null : windowBlocks / rate,
      statesync: paceOf(views.statesyncProgress(known), { elapsed, now }),
      secondsUntilCompaction: used === undefined ? null : growth.until(COMPACTION_THRESHOLD),
      zombie: views.isZombie(known, now),
      duties: duties.read(),
      identity: key === null || signs === null ? null : { key, isActive: signs },
    }
  }

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: async (context, report) => {
      await restore()
      await poll(timing, (inner) => Promise.resolve(think(createKnown(published()), inner)))(
        context,
        report,
      )
      saveNow()
    },
    samples,
    states: derivedStates,
  }
}

type StateFigures = Pick<
  Reading,
  'windowBlocks' | 'zombie' | 'blockAgeSeconds' | 'blocksBehind' | 'storageUsedRatio'
>

export const derivedStates = ({
  windowBlocks,
  zombie,
  blockAgeSeconds,
  blocksBehind,
  storageUsedRatio,
}: StateFigures): Readonly<Record<string, string>> => ({
  ...(blockAgeSeconds !== null && {
    'new blocks': blockAgeSeconds > STALE_BLOCK_S ? `none for ${STALE_BLOCK_S} s` : 'arriving',
  }),
  ...(blocksBehind !== null && {
    'distance to the network': `${blocksBehind > BEHIND_BLOCKS ? 'more than' : 'at most'} ${BEHIND_BLOCKS} blocks`,
  }),
  ...(storageUsedRatio !== null && {
    database: `${storageUsedRatio > FULL_RATIO ? 'above' : 'below'} ${FULL_RATIO * 100} % used`,
  }),
  ...(windowBlocks === null ? {} : { 'blocksync window': windowState(windowBlocks) }),
  ...(zombie === null
    ? {}
    : { "the node's own metrics": zombie ? 'unchanged while the node moves on' : 'move' }),
})

/** In words, not in figures: a line in the log for each step down. */
const windowState = (blocks: number): string =>
  blocks === 0
    ? 'passed: expect statesync'
    : blocks < 300
      ? 'below 300 blocks: restart now, or expect statesync'
      : blocks < 450
        ? 'below 450 blocks'
        : 'open'

const samples = (reading: Reading): readonly Sample[] => {
  const { statesync, duties, identity } = reading
  return [
    ...sampleIfKnown('chain_blocks_per_second', reading.blocksPerSecond),
    ...sampleIfKnown('chain_blocksync_window_remaining_blocks', reading.windowBlocks),
    ...sampleIfKnown('chain_blocksync_window_remaining_seconds', reading.windowSeconds),
    ...sampleIfKnown('chain_statesync_eta_seconds', statesync.etaSeconds),
    ...sampleIfKnown(
      'chain_statesync_last_progress_timestamp_seconds',
      statesync.lastProgressAt === null ? null : statesync.lastProgressAt / 1000,
    ),
    ...sampleIfKnown('chain_storage_seconds_until_compaction', reading.secondsUntilCompaction),
    ...sampleIfKnown('chain_native_zombie', reading.zombie),
    ...(duties === null ? [] : dutySamples(duties, identity !== null)),
    ...(identity === null
      ? []
      : [sample('chain_duty_identity_active', identity.isActive, { identity: identity.key })]),
  ]
}

/** A share of nothing is unknown; and who the node is must be known to tell its own turns. */
const dutySamples = (duties: DutiesReading, knowsOwn: boolean): readonly Sample[] => {
  const { rounds, timeouts, ownBlocks, ownTimeouts, expected, shortfallProbability } = duties
  const own = ownBlocks + ownTimeouts
  return [
    ...sampleIfKnown('chain_duty_timeout_ratio', rounds === 0 ? null : timeouts / rounds, {
      scope: 'network',
    }),
    ...(knowsOwn
      ? [
          ...sampleIfKnown('chain_duty_timeout_ratio', own === 0 ? null : ownTimeouts / own, {
            scope: 'own',
          }),
          sample('chain_duty_slots', ownBlocks, { result: 'block' }),
          sample('chain_duty_slots', ownTimeouts, { result: 'timeout' }),
          ...sampleIfKnown('chain_duty_expected_slots', expected),
          ...sampleIfKnown('chain_duty_shortfall_probability_ratio', shortfallProbability),
        ]
      : []),
  ]
}

export const offer: OfferCollector = ({
  config,
  published,
  slots,
  duties,
  ownKey,
  checkpoints,
}) => ({
  uses: [ownKey],
  role: 'derived',
  create: (timing) =>
    derived({
      published,
      slots,
      duties,
      ownKey,
      blocksyncWindow: config.derived.blocksyncWindow,
      checkpoint: checkpoints.open('derived'),
      timing,
    }),
})
