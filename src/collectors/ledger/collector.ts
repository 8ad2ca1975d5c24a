import { type Collector, follow, type Timing } from '../../core/collector.ts'
import { definition, LEDGER_EVENTS } from './definition.ts'
import { sample, sampleIfKnown } from '../../core/metric.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { parseLedgerLine } from '../../parsers/ledger-tail.ts'
import {
  createJournalFollower,
  type FollowerReading,
  followerSamples,
  type JournalDependencies,
} from '../shared/journal-follower.ts'
import { createLedgerCounters, type LedgerReading } from './counters.ts'
import { createLineReader, isAboutUnit } from '../shared/log-lines.ts'
import type { UnitNames } from '../shared/unit-names.ts'
import type { OwnKey } from '../shared/node-state.ts'
import type { RoundCounter } from '../derived/duties.ts'
import type { OfferCollector } from '../dependencies.ts'

interface LedgerCollectorOptions {
  readonly journalDependencies: JournalDependencies
  readonly unitNames: UnitNames
  /** The systemd unit, with `{prefix}` for the name prefix. */
  readonly unit: string
  readonly ownKey: OwnKey
  readonly roundCounter: RoundCounter
  readonly timing: Timing
}

/** With an unparsed line if there is one. */
type Reading = FollowerReading & LedgerReading & { readonly unparsed: string | null }

const SERVICE = 'ledger-tail'

/** Blocks, timeouts and skipped rounds, from the ledger stream in the journal. */
export const ledger = ({
  journalDependencies,
  unitNames,
  unit,
  ownKey,
  roundCounter,
  timing,
}: LedgerCollectorOptions): Collector<Reading> => {
  const { recorder } = journalDependencies
  const counters = createLedgerCounters(recorder, ownKey)
  const reader = createLineReader(recorder, 'ledger-tail', parseLedgerLine)

  const onEntry = ({ message, fields, at }: JournalEntry, isOld: boolean): void => {
    if (message === null || isAboutUnit(fields)) return
    const event = reader.read(message, { by: isOld ? 0 : 1, at })
    if (!event) return
    const isNew = counters.add({ event, isOld, process: fields['_PID'] ?? '' })
    if (isNew && !isOld && event.event !== 'finalized') {
      const key = ownKey.get()
      const isOwn = key === null ? null : event.author === key
      roundCounter.add({ isTimeout: event.event === 'timeout', isOwn })
    }
  }

  const open = createJournalFollower(journalDependencies, {
    timing,
    consumer: {
      service: SERVICE,
      match: async (signal) => ['-u', await unitNames.one(unit, signal)],
      newest: 1000,
      initialize: () => {
        counters.initialize()
        reader.initialize()
      },
      onEntry,
      snapshot: () => counters.snapshot(),
      restore: (snapshot) => {
        counters.restore(snapshot)
      },
    },
  })

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: follow<FollowerReading, Reading>(
      open,
      { lastEntryAt: null, ...counters.reading(), unparsed: null },
      (_, following) => ({
        ...following,
        ...counters.reading(),
        unparsed: reader.unparsed(),
      }),
    ),
    samples,
    states: ({ unparsed }) => (unparsed === null ? {} : { 'ledger stream, unparsed': unparsed }),
  }
}

const samples: Collector<Reading>['samples'] = (reading) => [
  ...followerSamples(SERVICE, reading),
  ...LEDGER_EVENTS.flatMap((event) => {
    const block = reading[event]
    if (!block) return []
    return [
      sample('chain_ledger_round', block.round, { event }),
      ...sampleIfKnown('chain_ledger_epoch', block.epoch, { event }),
      sample('chain_ledger_seq_num', block.seqNum, { event }),
      sample('chain_ledger_block_timestamp_seconds', block.blockAt / 1000, { event }),
    ]
  }),
  ...sampleIfKnown('chain_ledger_own_consecutive_timeouts', reading.ownConsecutiveTimeouts),
]

export const offer: OfferCollector<typeof definition> = ({ config, unitNames, ownKey, roundCounter, journalFor }) => ({
  uses: [unitNames, ownKey],
  create: (timing) =>
    ledger({
      journalDependencies: journalFor('ledger'),
      unitNames,
      unit: config.ledger.unit,
      ownKey,
      roundCounter,
      timing,
    }),
})
