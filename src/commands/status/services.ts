import { duration } from '../../core/format.ts'
import { type Fact, fact } from './fact.ts'
import { FROM_STATUS_REPORT, statusReport } from './report.ts'
import { joined, type Section, type Summary, summary, type View } from './section.ts'
import { count, iso, relativeTime, signalName, utc } from './format.ts'
import type { z } from 'zod'
import type { Tone } from '../../cli/terminal/style.ts'
import {
  lenientObject,
  listOf,
  nullableFlag,
  nullableInteger,
  nullableNumber,
  nullableText,
  objectOrNull,
  timestamp,
} from './reading-schema.ts'

export const services: Section = {
  name: 'services',
  groups: [
    {
      collector: 'services',
      source: 'systemd',
      facts: (view) => {
        const { services: units, partialRestart } = unitReadings(view)
        return [
          ...(units.length === 0 ? [fact('units', null)] : []),
          ...units.map((service) => rowOf(service, view)),
          ...cleanupTimer(view),
          ...(partialRestart === true
            ? [fact('partialRestart', partialRestart, { text: () => PARTIAL, tone: () => 'bad' })]
            : [fact('partialRestart', partialRestart)]),
        ]
      },
    },
    { ...FROM_STATUS_REPORT, facts: reported },
  ],
  summary: (view) => {
    const { services: units } = unitReadings(view)
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
  unitReadings(view).timers.map(({ timer, activeState, lastTriggerAt, nextTriggerAt }) =>
    fact(
      ['timers', timer ?? ''],
      activeState === null
        ? null
        : {
            state: activeState,
            lastTriggerAt: iso(lastTriggerAt),
            nextTriggerAt: iso(nextTriggerAt),
          },
      {
        label: `timer ${timer ?? ''}`,
        text: () =>
          joined([
            activeState,
            lastTriggerAt === null ? null : `last ${relativeTime(lastTriggerAt, view.at)}`,
            nextTriggerAt === null ? null : `next ${relativeTime(nextTriggerAt, view.at)}`,
          ]) ?? '',
        tone: () => (activeState === 'active' ? undefined : 'notice'),
      },
    ),
  )

/** The state of each service in the status report: `running`, or another. */
function reported(view: View): readonly Fact[] {
  const { services: words, cleanup } = statusReport(view)
  const { activated, previousSeconds, nextSeconds } = cleanup
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
      fact(['reported', service], word, {
        label: service,
        tone: (state) => (state === 'running' ? undefined : 'notice'),
      }),
    ),
    fact('cleanup', inWords === null ? null : { ...cleanup }, {
      label: 'clean-up',
      text: () => inWords ?? '',
      tone: () => (activated === false ? 'notice' : undefined),
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
  const words = Object.entries(statusReport(view).services)
  const isOk = words.every(([, word]) => word === 'running')
  return summary(joined(words.map(([service, word]) => `${service} ${word}`)), isOk ? undefined : 'notice')
}

const unit = {
  unit: nullableText,
  loadState: nullableText,
  activeState: nullableText,
  subState: nullableText,
  unitFileState: nullableText,
  result: nullableText,
  restarts: nullableInteger,
  mainPid: nullableNumber,
  exit: objectOrNull({ by: nullableText, status: nullableInteger }),
  startedAt: timestamp,
  exitedAt: timestamp,
  memoryBytes: nullableInteger,
  cpuSeconds: nullableNumber,
  tasks: nullableInteger,
  lastTriggerAt: timestamp,
  nextTriggerAt: timestamp,
}

const schema = lenientObject({
  services: listOf(lenientObject({ ...unit, service: nullableText, expected: nullableFlag })),
  timers: listOf(lenientObject({ ...unit, timer: nullableText })),
  partialRestart: nullableFlag,
})

/** The units, as systemd reports them. */
export const unitReadings = (view: View) => view.reading('services', schema)

export type Service = z.output<typeof schema>['services'][number]

/** `chain-bft` for chain-bft.service, and for a unit whose name is not known. */
const nameOf = ({ unit: name, service }: Service, { prefix }: Pick<View, 'prefix'>): string =>
  name === null ? `${prefix}-${service ?? ''}` : name.replace(/\.service$/, '')

/** The sub-state of an active unit, else its active state, in the terms of systemd. */
export const stateOf = ({ loadState, activeState, subState }: Service): string | null => {
  if (loadState === 'not-found') return 'not found'
  if (loadState === 'masked') return 'masked'
  return activeState === 'active' ? (subState ?? activeState) : activeState
}

/** A service that should run and does not is bad; one that need not run is not. */
export const toneOf = (service: Service): Tone | undefined => {
  if (service.activeState === 'active' && service.loadState !== 'not-found') return undefined
  if (service.activeState === 'failed') return 'bad'
  return service.expected === true ? 'bad' : 'quiet'
}

/** The exit status of its last main process; null if none has exited. */
export const exitOf = ({ exit }: Service): string | null => {
  if (exit === null || exit.status === null) return null
  return exit.by === 'signal' ? `killed by ${signalName(Number(exit.status))}` : `exit code ${exit.status}`
}
