import { type Collector, follow, type Timing } from '../../core/collector.ts'
import {
  createJournalFollower,
  type Heard,
  heardSamples,
  type JournalDependencies,
} from '../shared/journal-follower.ts'
import type { Lifecycle } from './count.ts'
import type { Names } from '../shared/names.ts'
import type { OfferCollector } from '../dependencies.ts'
import { definition } from './definition.ts'

interface Parts {
  readonly listening: JournalDependencies
  readonly names: Names
  readonly units: Readonly<Record<string, string>>
  readonly lifecycle: Lifecycle
  readonly timing: Timing
}

/** Ids of systemd's message catalogue (`journalctl --catalog`), stable across versions and languages. */
const STARTED = '39f53479d3a045ac8e11786248231fbf'
const SUCCEEDED = '7ad2d189f7e94e70a38c781354912448'
const FAILED = 'd9b373ed55a64feb8242e02dbe79a49c'

/** systemd writes of all units under its own. */
const SERVICE = 'init'

/** Starts and ends of the node's units as systemd itself writes them, those between two polls too. */
export const lifecycle = (parts: Parts): Collector<Heard> => {
  const { listening, names, units, lifecycle: count, timing } = parts
  let services: ReadonlyMap<string, string> = new Map()
  const open = createJournalFollower(listening, {
    timing,
    listener: {
      service: SERVICE,
      match: async (signal) => {
        const unitNames = await names.all(units, signal)
        services = new Map([...unitNames].map(([service, unit]) => [unit, service]))
        return [
          '_PID=1',
          ...[STARTED, SUCCEEDED, FAILED].map((id) => `MESSAGE_ID=${id}`),
          ...[...services.keys()].map((unit) => `UNIT=${unit}`),
        ]
      },
      newest: 50,
      begin: () => {
        count.begin()
      },
      on: ({ fields }, isOld) => {
        const service = services.get(fields['UNIT'] ?? '')
        const invocation = fields['INVOCATION_ID']
        if (service === undefined || invocation === undefined) return
        const told = { service, invocation, isOld }
        if (fields['MESSAGE_ID'] === STARTED) count.started(told)
        else if (fields['MESSAGE_ID'] === SUCCEEDED) count.ended({ ...told, result: 'success' })
        else if (fields['MESSAGE_ID'] === FAILED) {
          count.ended({ ...told, result: fields['UNIT_RESULT'] ?? 'other' })
        }
      },
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
    run: follow<Heard, Heard>(open, { lastEntryAt: null }, (_, heard) => heard),
    samples: (heard) => heardSamples(SERVICE, heard),
    states: () => ({}),
  }
}

export const offer: OfferCollector = ({ config, names, lifecycle: shared, follower }) => {
  const { units } = config.services
  return {
    uses: [names, shared, units],
    create: (timing) =>
      lifecycle({ listening: follower('lifecycle'), names, units, lifecycle: shared, timing }),
  }
}
