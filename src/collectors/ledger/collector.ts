import { type Collector, follow, type Timing } from '../../core/collector.ts'
import { definition, LEDGER_EVENTS } from './definition.ts'
import { sample, sampleIfKnown } from '../../core/metric.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { parseLedgerLine } from '../../parsers/ledger-tail.ts'
import {
  createJournalFollower,
  type Heard,
  heardSamples,
  type JournalDependencies,
} from '../shared/journal-follower.ts'
import { createLedgerCount, type LedgerReading } from './count.ts'
import { createReader } from '../shared/reader.ts'
import type { Names } from '../shared/names.ts'
import type { OwnKey } from '../shared/own-key.ts'
import type { SlotCount } from '../derived/slots.ts'
import type { OfferCollector } from '../dependencies.ts'

interface Parts {
  readonly listening: JournalDependencies
  readonly names: Names
  /** The unit, with `{prefix}` for the maker's word. */
  readonly unit: string
  readonly ownKey: OwnKey
  /** Where rounds and own turns are counted. */
  readonly slots: SlotCount
  readonly timing: Timing
}

/** And, where a line was not understood, such a line. */
type Reading = Heard & LedgerReading & { readonly unparsed: string | null }

const SERVICE = 'ledger-tail'

/** Blocks, timeouts and skipped rounds as the ledger stream tells them in the journal. */
export const ledger = ({
  listening,
  names,
  unit,
  ownKey,
  slots,
  timing,
}: Parts): Collector<Reading> => {
  const { recorder } = listening
  const count = createLedgerCount(recorder, ownKey)
  const reader = createReader(recorder, 'ledger-tail', parseLedgerLine)

  const on = ({ message, fields, at }: JournalEntry, isOld: boolean): void => {
    // What systemd and journald say of the unit comes along with what the unit says.
    if (message === null || fields['_PID'] === '1' || 'OBJECT_SYSTEMD_UNIT' in fields) return
    const event = reader.read(message, { by: isOld ? 0 : 1, at })
    if (!event) return
    const isNew = count.add({ event, isOld, process: fields['_PID'] ?? '' })
    if (isNew && !isOld && event.event !== 'finalized') {
      const key = ownKey.get()
      const isOwn = key === null ? null : event.author === key
      slots.saw({ isTimeout: event.event === 'timeout', isOwn })
    }
  }

  const open = createJournalFollower(listening, {
    timing,
    listener: {
      service: SERVICE,
      match: async (signal) => ['-u', await names.one(unit, signal)],
      newest: 1000,
      begin: () => {
        count.begin()
        reader.begin()
      },
      on,
      memory: () => count.memory(),
      restore: (memory) => {
        count.restore(memory)
      },
    },
  })

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: follow<Heard, Reading>(
      open,
      { lastEntryAt: null, ...count.reading(), unparsed: null },
      (_, heard) => ({
        ...heard,
        ...count.reading(),
        unparsed: reader.unparsed(),
      }),
    ),
    samples,
    states: ({ unparsed }) => (unparsed === null ? {} : { 'ledger stream, unparsed': unparsed }),
  }
}

const samples: Collector<Reading>['samples'] = (reading) => [
  ...heardSamples(SERVICE, reading),
  ...LEDGER_EVENTS.flatMap((event) => {
    const seen = reading[event]
    if (!seen) return []
    return [
      sample('chain_ledger_round', seen.round, { event }),
      ...sampleIfKnown('chain_ledger_epoch', seen.epoch, { event }),
      sample('chain_ledger_seq_num', seen.seqNum, { event }),
      sample('chain_ledger_block_timestamp_seconds', seen.blockAt / 1000, { event }),
    ]
  }),
  ...sampleIfKnown('chain_ledger_own_consecutive_timeouts', reading.ownConsecutiveTimeouts),
]

export const offer: OfferCollector = ({ config, names, ownKey, slots, follower }) => ({
  uses: [names, ownKey],
  create: (timing) =>
    ledger({
      listening: follower('ledger'),
      names,
      unit: config.ledger.unit,
      ownKey,
      slots,
      timing,
    }),
})
