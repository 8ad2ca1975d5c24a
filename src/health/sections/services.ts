import { duration, figure, size, count, utc } from '../../core/format.ts'
import { type Fact, fact, iso, joined, noticeIf, relativeTime, signalName } from './fact.ts'
import { type Group, group, type Section, statusReport, type Summary, summary, type View } from './section.ts'
import type { Readings } from '../../collectors/index.ts'
import type { Tone } from '../../domain/health.ts'
import { whyNotRead } from '../../domain/log-state.ts'

export const services: Section = {
  name: 'services',
  groups: [
    group('services', 'systemd', (view) => {
      const { services: units = [], partialRestart } = view.readings.services ?? {}
      return [
        ...(units.length === 0 ? [fact('units', null)] : []),
        ...units.map((service) => rowOf(service, view)),
        ...cleanupTimer(view),
        partialRestart === true
          ? fact('partialRestart', partialRestart, { text: () => PARTIAL, tone: () => 'bad' })
          : fact('partialRestart', partialRestart),
      ]
    }),
    statusReport(reported),
  ],
  summary: (view) => {
    const { services: units = [] } = view.readings.services ?? {}
    return units.length === 0 ? summaryOfReport(view) : summaryOf(units)
  },
}

const PARTIAL = 'yes: consensus was restarted and execution was not'

const rowOf = (service: Service, view: View): Fact => {
  const name = nameOf(service, view)
  const isActive = service.activeState === 'active'
  const at = isActive ? service.startedAt : service.exitedAt
  const text = joined([
    stateOf(service),
    at === null ? null : `${isActive ? 'since' : 'ended'} ${utc(at)} (${relativeTime(at, view.at)})`,
    service.mainPid === null ? null : `pid ${service.mainPid}`,
    service.restarts === null ? null : count(service.restarts, 'restart'),
    isActive ? null : exitOf(service),
  ])
  const value = {
    state: stateOf(service),
    active: service.activeState === null ? null : isActive,
    expected: service.expected,
    startedAt: iso(service.startedAt),
    endedAt: isActive ? null : iso(service.exitedAt),
    mainPid: service.mainPid,
    restarts: service.restarts,
    lastExit: exitOf(service),
  }
  return fact([name], text === null ? null : value, {
    label: name,
    text: () => text ?? '',
    tone: () => toneOf(service),
  })
}

const cleanupTimer = (view: View): readonly Fact[] =>
  (view.readings.services?.timers ?? []).map(({ timer, activeState, lastTriggerAt, nextTriggerAt }) =>
    fact(
      ['timers', timer ?? ''],
      activeState === null
        ? null
        : { state: activeState, lastTriggerAt: iso(lastTriggerAt), nextTriggerAt: iso(nextTriggerAt) },
      {
        label: `timer ${timer ?? ''}`,
        text: () => [
          activeState,
          lastTriggerAt === null ? null : `last ${relativeTime(lastTriggerAt, view.at)}`,
          nextTriggerAt === null ? null : `next ${relativeTime(nextTriggerAt, view.at)}`,
        ],
        tone: () => noticeIf(activeState !== 'active'),
      },
    ),
  )

/** The state of each service in the status report: `running`, or another. */
function reported(view: View): readonly Fact[] {
  const { services: words = {}, cleanup } = view.readings.status ?? {}
  const { activated = null, previousSeconds = null, nextSeconds = null } = cleanup ?? {}
  const inWords = joined([
    activated === null ? null : activated ? 'activated' : 'not activated',
    previousSeconds === null ? null : `last ${duration(previousSeconds * 1000)} ago`,
    nextSeconds === null
      ? null
      : nextSeconds < 0
        ? `was due ${duration(-nextSeconds * 1000)} ago`
        : `next in ${duration(nextSeconds * 1000)}`,
  ])
  return [
    ...Object.entries(words).map(([service, word]) =>
      fact(['reported', service], word, { label: service, tone: (state) => noticeIf(state !== 'running') }),
    ),
    fact('cleanup', inWords === null ? null : { activated, previousSeconds, nextSeconds }, {
      label: 'clean-up',
      text: () => inWords ?? '',
      tone: () => noticeIf(activated === false),
    }),
  ]
}

/** Failed services first, each with its exit status; services that need not run and do not are left out. */
const summaryOf = (units: readonly Service[]): Summary => {
  const named = units.map((service) => ({
    name: service.service ?? '',
    state: stateOf(service),
    end: exitOf(service),
    tone: toneOf(service),
  }))
  const bad = named.filter(({ tone }) => tone === 'bad')
  const good = named.filter(({ tone }) => tone === undefined)
  const running = good.filter(({ state }) => state === 'running').map(({ name }) => name)
  const others = good.filter(({ state }) => state !== 'running')
  return summary(
    joined(
      [
        ...bad.map(({ name, state, end }) => `${name} ${state}${end === null ? '' : ` (${end})`}`),
        ...others.map(({ name, state }) => `${name} ${state}`),
        running.length === 0 ? null : `running: ${running.join(', ')}`,
      ],
      '; ',
    ),
    bad.length > 0 ? 'bad' : undefined,
  )
}

/** If systemd could not be read. */
const summaryOfReport = (view: View): Summary => {
  const words = Object.entries(view.readings.status?.services ?? {})
  const isOk = words.every(([, word]) => word === 'running')
  return summary(joined(words.map(([service, word]) => `${service} ${word}`)), isOk ? undefined : 'notice')
}

type Service = NonNullable<Readings['services']>['services'][number]

/** `chain-bft` for chain-bft.service, and for a unit whose name is not known. */
const nameOf = ({ unit: name, service }: Service, { prefix }: Pick<View, 'prefix'>): string =>
  name === null ? `${prefix}-${service ?? ''}` : name.replace(/\.service$/, '')

/** The sub-state of an active unit, else its active state, in the terms of systemd. */
const stateOf = ({ loadState, activeState, subState }: Service): string | null => {
  if (loadState === 'not-found') return 'not found'
  if (loadState === 'masked') return 'masked'
  return activeState === 'active' ? (subState ?? activeState) : activeState
}

/** A service that should run and does not is bad; one that need not run is not. */
const toneOf = (service: Service): Tone | undefined => {
  if (service.activeState === 'active' && service.loadState !== 'not-found') return undefined
  if (service.activeState === 'failed') return 'bad'
  return service.expected === true ? 'bad' : 'quiet'
}

/** The exit status of its last main process; null if none has exited. */
const exitOf = ({ exit }: Service): string | null => {
  if (exit === null || exit.status === null) return null
  return exit.by === 'signal' ? `killed by ${signalName(Number(exit.status))}` : `exit code ${exit.status}`
}

type Follower = 'consensus' | 'execution' | 'ledger'

/** The collector that reads the log of a service line by line. */
const FOLLOWED: Readonly<Record<string, Follower>> = {
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
      const found = view.readings.services?.services.find((one) => one.service === service)
      return found ? summary([stateOf(found), exitOf(found)]) : null
    },
    groups: [
      group('services', 'systemd', (view) => unitFacts(service, view)),
      group('host', 'the kernel', (view) => limitFacts(service, view)),
      ...(follower === undefined ? [] : [newestLine(follower)]),
      group('logs', 'the search of its log', (view) => logFacts(service, view)),
    ],
  }
}

const unitFacts = (service: string, view: View): readonly Fact[] => {
  const found = view.readings.services?.services.find((one) => one.service === service)
  const isActive = found?.activeState === 'active'
  const isKnownInactive = found !== undefined && !isActive
  const absentIf = (condition: boolean, absent = 'none') => (condition ? { absent } : {})
  return [
    fact('unit', found?.unit),
    fact('state', found && stateOf(found), { tone: () => found && toneOf(found) }),
    fact('enabled', found?.unitFileState),
    fact('expected', found?.expected, { label: 'should run' }),
    view.time(isKnownInactive ? 'endedAt' : 'startedAt', isActive ? found.startedAt : found?.exitedAt, {
      label: isKnownInactive ? 'ended' : 'since',
      ...absentIf(isKnownInactive, 'never, according to systemd'),
    }),
    fact('mainPid', found?.mainPid, { label: 'pid', text: String, ...absentIf(found !== undefined) }),
    fact('restarts', found?.restarts, { label: 'restarts by systemd', text: figure }),
    fact('lastExit', found && exitOf(found), absentIf(found !== undefined, 'none, according to systemd')),
    fact('result', found?.result, { tone: (result) => (result === 'success' ? undefined : 'bad') }),
    fact('memoryBytes', found?.memoryBytes, {
      label: 'memory',
      text: (bytes) => size(Number(bytes)),
      ...absentIf(isKnownInactive),
    }),
    fact('cpuSeconds', found?.cpuSeconds, { label: 'CPU time', text: (seconds) => duration(Number(seconds) * 1000) }),
    fact('tasks', found?.tasks, { text: figure, ...absentIf(isKnownInactive) }),
  ]
}

const limitFacts = (service: string, view: View): readonly Fact[] => {
  const { known } = view
  const why = (aspect: string): string | undefined => {
    const state = view.readings.host?.get(aspect)?.state
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

const newestLine = (collector: Follower): Group =>
  group(collector, 'its log', (view) => [
    view.time('newestLineAt', view.readings[collector]?.lastEntryAt, {
      label: 'newest line',
      unknownReason: view.hasReading(collector) ? 'no line of its log was read' : undefined,
      tone: (at) => noticeIf(view.at - at > SILENT_MS),
    }),
  ])

/** While it works, each of these services writes several lines per second. */
const SILENT_MS = 60_000

const logFacts = (service: string, view: View): readonly Fact[] => {
  const { trouble, oldestEntryAt, states } = view.readings.logs ?? {}
  // If the log was not read, it is not known that it has no problems.
  const unread = whyNotRead(states?.get(service))
  const found = trouble?.[service]
  const lines = unread === undefined || (found?.length ?? 0) > 0 ? found : undefined
  return [
    fact('trouble', lines, {
      label: 'problems in the log',
      text: (failures) => failures.join('; ') || 'none',
      unknownReason: !view.hasReading('logs') ? undefined : found === undefined ? 'its log is not searched' : unread,
      tone: (failures) => noticeIf(failures.length > 0),
    }),
    view.time('oldestLineAt', oldestEntryAt?.get(service), {
      label: 'oldest line',
      unknownReason: view.hasReading('logs') ? 'its log is not searched, or not read yet' : undefined,
    }),
  ]
}
