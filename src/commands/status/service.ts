import { duration, figure, size } from '../../core/format.ts'
import { type Fact, fact, timeFact } from './fact.ts'
import { type Group, joined, type Section, summary, type View } from './section.ts'
import { lenientObject, listOf, nullableText, recordOf, timestamp } from './reading-schema.ts'
import { exitOf, stateOf, toneOf, unitReadings } from './services.ts'

/** The collector that reads the log of a service line by line. */
const FOLLOWED: Readonly<Record<string, string>> = {
  bft: 'consensus',
  execution: 'execution',
  'ledger-tail': 'ledger',
}

/** One service in detail. `title` is the configured unit without its suffix. */
export const serviceSection = (service: string, title: string): Section => {
  const follower = FOLLOWED[service]
  return {
    name: title,
    summary: (view) => {
      const found = unitReadings(view).services.find((one) => one.service === service)
      return found ? summary(joined([stateOf(found), exitOf(found)])) : null
    },
    groups: [
      { collector: 'services', source: 'systemd', facts: (view) => unitFacts(service, view) },
      { collector: 'host', source: 'the kernel', facts: (view) => limitFacts(service, view) },
      ...(follower === undefined ? [] : [newestLine(follower)]),
      {
        collector: 'logs',
        source: 'the search of its log',
        facts: (view) => logFacts(service, view),
      },
    ],
  }
}

const unitFacts = (service: string, view: View): readonly Fact[] => {
  const found = unitReadings(view).services.find((one) => one.service === service)
  const isActive = found?.activeState === 'active'
  const ended = found && exitOf(found)
  return [
    fact('unit', found?.unit),
    fact('state', found && stateOf(found), { tone: () => found && toneOf(found) }),
    fact('enabled', found?.unitFileState),
    fact('expected', found?.expected, { label: 'should run' }),
    timeFact(isActive || !found ? 'startedAt' : 'endedAt', isActive ? found.startedAt : found?.exitedAt, {
      label: isActive || !found ? 'since' : 'ended',
      now: view.at,
      ...(found && !isActive && { absent: 'never, according to systemd' }),
    }),
    fact('mainPid', found?.mainPid, {
      label: 'pid',
      text: String,
      ...(found && { absent: 'none' }),
    }),
    fact('restarts', found?.restarts, { label: 'restarts by systemd', text: figure }),
    fact('lastExit', ended, {
      ...(found && { absent: 'none, according to systemd' }),
    }),
    fact('result', found?.result, {
      tone: (result) => (result === 'success' ? undefined : 'bad'),
    }),
    fact('memoryBytes', found?.memoryBytes, {
      label: 'memory',
      text: (bytes) => size(Number(bytes)),
      ...(found && !isActive && { absent: 'none' }),
    }),
    fact('cpuSeconds', found?.cpuSeconds, {
      label: 'CPU time',
      text: (seconds) => duration(Number(seconds) * 1000),
    }),
    fact('tasks', found?.tasks, { text: figure, ...(found && !isActive && { absent: 'none' }) }),
  ]
}

const aspects = recordOf(lenientObject({ state: nullableText }))

const limitFacts = (service: string, view: View): readonly Fact[] => {
  const { known } = view
  const seen = view.reading('host', aspects)
  const why = (aspect: string): string | undefined => {
    const state = seen[aspect]?.state
    return state === 'known' ? 'not available for this service' : (state ?? undefined)
  }
  return [
    fact(['openFiles', 'now'], known.value('chain_service_open_file_descriptors', { service }), {
      label: 'open files',
      unknownReason: why('open files of services'),
    }),
    fact(['openFiles', 'most'], known.value('chain_service_max_file_descriptors', { service }), {
      label: 'open files, limit',
      unknownReason: why('limits of services'),
    }),
  ]
}

const newestLine = (collector: string): Group => ({
  collector,
  source: 'its log',
  facts: (view) => {
    const { lastEntryAt } = view.reading(collector, lenientObject({ lastEntryAt: timestamp }))
    return [
      timeFact('newestLineAt', lastEntryAt, {
        label: 'newest line',
        now: view.at,
        unknownReason: view.hasReading(collector) ? 'no line of its log was read' : undefined,
        tone: (at) => (view.at - at > SILENT_MS ? 'notice' : undefined),
      }),
    ]
  },
})

/** While it works, each of these services writes several lines per second. */
const SILENT_MS = 60_000

const logSchema = lenientObject({
  lastEntryAt: timestamp,
  trouble: recordOf(listOf(nullableText)),
  oldestEntryAt: recordOf(timestamp),
})

const logFacts = (service: string, view: View): readonly Fact[] => {
  const { lastEntryAt, trouble, oldestEntryAt } = view.reading('logs', logSchema)
  // If no log was read, it is not known that the log has no problems.
  const reading = lastEntryAt === null ? undefined : trouble[service]
  const lines = reading?.filter((line) => line !== null)
  const from = oldestEntryAt[service]
  return [
    fact('trouble', lines, {
      label: 'problems in the log',
      text: (found) => found.join('; ') || 'none',
      unknownReason: !view.hasReading('logs')
        ? undefined
        : lastEntryAt === null
          ? 'no line was read'
          : 'its log is not searched',
      tone: (found) => (found.length === 0 ? undefined : 'notice'),
    }),
    timeFact('oldestLineAt', from, {
      label: 'oldest line',
      now: view.at,
      unknownReason: view.hasReading('logs') ? 'its log is not searched, or not read yet' : undefined,
    }),
  ]
}
