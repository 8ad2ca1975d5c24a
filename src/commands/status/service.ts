import { duration, figure, size } from '../../core/format.ts'
import { type Fact, fact, momentFact } from './fact.ts'
import { type Group, joined, type Section, summary, type View } from './section.ts'
import { byName, listOf, shape, timestamp, word } from './shapes.ts'
import { endOf, stateOf, toneOf, unitsIn } from './units.ts'

/** Which collector reads the log of a service line by line. */
const FOLLOWED: Readonly<Record<string, string>> = {
  bft: 'consensus',
  execution: 'execution',
  'ledger-tail': 'ledger',
}

/** One service in detail. `title` is the unit without its ending, as it is known before anybody was asked. */
export const serviceSection = (service: string, title: string): Section => {
  const follower = FOLLOWED[service]
  return {
    name: title,
    about: 'one service in detail',
    summary: (view) => {
      const found = unitsIn(view).services.find((one) => one.service === service)
      return found ? summary(joined([stateOf(found), endOf(found)])) : null
    },
    groups: [
      { from: 'services', by: 'systemd', facts: (view) => unitFacts(service, view) },
      { from: 'host', by: 'the kernel', facts: (view) => limitFacts(service, view) },
      ...(follower === undefined ? [] : [newestLine(follower)]),
      { from: 'logs', by: 'the search of its log', facts: (view) => logFacts(service, view) },
    ],
  }
}

const unitFacts = (service: string, view: View): readonly Fact[] => {
  const found = unitsIn(view).services.find((one) => one.service === service)
  const isActive = found?.activeState === 'active'
  const ended = found && endOf(found)
  return [
    fact('unit', found?.unit),
    fact('state', found && stateOf(found), { tone: () => found && toneOf(found) }),
    fact('enabled', found?.unitFileState),
    fact('expected', found?.expected, { label: 'should run' }),
    momentFact(
      isActive || !found ? 'startedAt' : 'endedAt',
      isActive ? found.startedAt : found?.exitedAt,
      {
        label: isActive || !found ? 'since' : 'ended',
        now: view.at,
        ...(found && !isActive && { otherwise: 'never, as far as systemd tells' }),
      },
    ),
    fact('mainPid', found?.mainPid, {
      label: 'pid',
      text: String,
      ...(found && { otherwise: 'none' }),
    }),
    fact('restarts', found?.restarts, { label: 'restarts by systemd', text: figure }),
    fact('lastExit', ended, {
      ...(found && { otherwise: 'none, as far as systemd tells' }),
    }),
    fact('result', found?.result, {
      tone: (result) => (result === 'success' ? undefined : 'bad'),
    }),
    fact('memoryBytes', found?.memoryBytes, {
      label: 'memory',
      text: (bytes) => size(Number(bytes)),
      ...(found && !isActive && { otherwise: 'none' }),
    }),
    fact('cpuSeconds', found?.cpuSeconds, {
      label: 'CPU time',
      text: (seconds) => duration(Number(seconds) * 1000),
    }),
    fact('tasks', found?.tasks, { text: figure, ...(found && !isActive && { otherwise: 'none' }) }),
  ]
}

const aspects = byName(shape({ state: word }))

const limitFacts = (service: string, view: View): readonly Fact[] => {
  const { known } = view
  const seen = view.reading('host', aspects)
  const why = (aspect: string): string | undefined => {
    const state = seen[aspect]?.state
    return state === 'known' ? 'of this service it is not told' : (state ?? undefined)
  }
  return [
    fact(['openFiles', 'now'], known.value('chain_service_open_file_descriptors', { service }), {
      label: 'open files',
      why: why('open files of services'),
    }),
    fact(['openFiles', 'most'], known.value('chain_service_max_file_descriptors', { service }), {
      label: 'open files, limit',
      why: why('limits of services'),
    }),
  ]
}

const newestLine = (collector: string): Group => ({
  from: collector,
  by: 'its log',
  facts: (view) => {
    const { lastEntryAt } = view.reading(collector, shape({ lastEntryAt: timestamp }))
    return [
      momentFact('newestLineAt', lastEntryAt, {
        label: 'newest line',
        now: view.at,
        why: view.hasTold(collector) ? 'no line of it was heard' : undefined,
        tone: (at) => (view.at - at > STILL_MS ? 'notice' : undefined),
      }),
    ]
  },
})

/** Each of these services writes several lines a second while it works. */
const STILL_MS = 60_000

const logSchema = shape({
  lastEntryAt: timestamp,
  trouble: byName(listOf(word)),
  oldestEntryAt: byName(timestamp),
})

const logFacts = (service: string, view: View): readonly Fact[] => {
  const { lastEntryAt, trouble, oldestEntryAt } = view.reading('logs', logSchema)
  // Of logs of which nothing was heard it is not known that nothing is in them.
  const told = lastEntryAt === null ? undefined : trouble[service]
  const lines = told?.filter((line) => line !== null)
  const from = oldestEntryAt[service]
  return [
    fact('trouble', lines, {
      label: 'trouble in the log',
      text: (found) => found.join('; ') || 'none',
      why: !view.hasTold('logs')
        ? undefined
        : lastEntryAt === null
          ? 'no line was heard'
          : 'its log is not searched',
      tone: (found) => (found.length === 0 ? undefined : 'notice'),
    }),
    momentFact('oldestLineAt', from, {
      label: 'oldest line',
      now: view.at,
      why: view.hasTold('logs') ? 'its log is not searched, or not looked at yet' : undefined,
    }),
  ]
}
