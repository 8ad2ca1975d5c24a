import { noticed } from './journal.ts'
import { createConsensusCount, SERVICE } from './count.ts'
import { FINDINGS } from './findings.ts'
import type { ConsensusFound } from './count.ts'
import type { Clock } from '../../core/clock.ts'
import { type Collector, follow, type Timing } from '../../core/collector.ts'
import { minute } from '../../core/units.ts'
import { definition, CONSENSUS_KINDS } from './definition.ts'
import { sampleIfKnown } from '../../core/metric.ts'
import { CONSENSUS_LOG_PATTERN } from '../../parsers/consensus-log.ts'
import type { Exec } from '../../sources/exec.ts'
import { createGrepSupport } from '../shared/grep-support.ts'
import {
  createJournalFollower,
  type Heard,
  heardSamples,
  type JournalDependencies,
} from '../shared/journal-follower.ts'
import type { Names } from '../shared/names.ts'
import type { OfferCollector } from '../dependencies.ts'

interface Parts {
  readonly listening: JournalDependencies
  readonly exec: Exec
  readonly clock: Clock
  readonly names: Names
  /** The unit, with `{prefix}` for the maker's word. */
  readonly unit: string
  readonly timing: Timing
}

type Reading = Heard & ConsensusFound

/** The last 60 seconds of the consensus log, with what is to be found in them. */
export const consensus = (parts: Parts): Collector<Reading> => {
  const { listening, exec, clock, names, unit, timing } = parts
  const count = createConsensusCount(listening.recorder)
  const canGrep = createGrepSupport(exec)
  /** Entries heard, and since when there were no more. */
  let heardEntries = 0
  let quiet: { readonly entries: number; readonly since: number } | undefined

  const journal = noticed(listening.journal, {
    opened: () => {
      quiet = undefined
    },
    gap: count.forget,
  })

  const open = createJournalFollower(
    { ...listening, journal },
    {
      timing,
      listener: {
        service: SERVICE,
        match: async (signal) => [
          '-u',
          await names.one(unit, signal),
          ...((await canGrep(signal)) ? [`--grep=${CONSENSUS_LOG_PATTERN}`] : []),
        ],
        // journalctl takes these before it filters: a look back of some seconds under DEBUG.
        newest: 10_000,
        lookBack: 1.25 * minute,
        begin: count.begin,
        on: (entry, isOld) => {
          heardEntries += 1
          count.on(entry, isOld)
        },
        memory: count.memory,
        restore: count.restore,
      },
    },
  )

  /** The window ends with the newest entry, and goes on by the clock where no more come. */
  const passTime = (): void => {
    const now = clock.now()
    count.keepTo(now)
    if (quiet?.entries !== heardEntries) quiet = { entries: heardEntries, since: now }
    else if (now - quiet.since >= timing.interval) count.silent(now)
  }

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: follow<Heard, Reading>(open, { lastEntryAt: null, ...count.read() }, (_, heard) => {
      passTime()
      return { ...heard, ...count.read() }
    }),
    samples,
    states,
  }
}

const samples: Collector<Reading>['samples'] = (reading) => [
  ...heardSamples(SERVICE, reading),
  ...sampleIfKnown('chain_consensus_round', reading.round),
  ...sampleIfKnown('chain_consensus_epoch', reading.epoch),
  ...sampleIfKnown('chain_consensus_block_number', reading.block),
  ...sampleIfKnown('chain_consensus_committing', reading.committing),
  ...sampleIfKnown('chain_consensus_statesync_active', reading.statesyncActive),
  ...sampleIfKnown('chain_consensus_blocksync_active', reading.blocksyncActive),
  ...sampleIfKnown('chain_consensus_network_error_peers', reading.networkErrorPeers),
  ...CONSENSUS_KINDS.flatMap((kind) =>
    sampleIfKnown('chain_consensus_window_messages', reading.messages[kind], { kind }),
  ),
  ...FINDINGS.flatMap(({ finding, when }) =>
    sampleIfKnown('chain_consensus_finding', when(reading), { finding }),
  ),
]

/** What is not well, by name: figures would make a change of every reading. */
const states: Collector<Reading>['states'] = (reading) => {
  const found = FINDINGS.filter(({ severity, when }) => severity !== 'info' && when(reading))
  return {
    ...(reading.isCovered || found.length > 0
      ? { 'consensus log': found.map(({ finding }) => finding).join(', ') || 'no findings' }
      : {}),
    ...(reading.unparsed === null ? {} : { 'consensus log, unparsed': reading.unparsed }),
  }
}

export const offer: OfferCollector = ({ config, exec, clock, names, follower }) => ({
  uses: [names],
  create: (timing) =>
    consensus({
      listening: follower('consensus'),
      exec,
      clock,
      names,
      unit: config.consensus.unit,
      timing,
    }),
})
