import { duration } from '../../core/format.ts'
import { type Fact, fact } from './fact.ts'
import { BY_REPORT, reportIn } from './report.ts'
import { joined, type Section, type Summary, summary, type View } from './section.ts'
import { away, count, iso, utc } from './texts.ts'
import { endOf, nameOf, type Service, stateOf, toneOf, unitsIn } from './units.ts'

export const services: Section = {
  name: 'services',
  about: "the node's units, and its clean-up",
  groups: [
    {
      from: 'services',
      by: 'systemd',
      facts: (view) => {
        const { services: units, partialRestart } = unitsIn(view)
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
    { ...BY_REPORT, facts: reported },
  ],
  summary: (view) => {
    const { services: units } = unitsIn(view)
    return units.length === 0 ? summaryOfReport(view) : summaryOf(units)
  },
}

const PARTIAL = 'yes: consensus was started anew and execution was not'

const rowOf = (service: Service, view: View): Fact => {
  const name = nameOf(service, view)
  const isActive = service.activeState === 'active'
  const at = isActive ? service.startedAt : service.exitedAt
  const text = joined([
    stateOf(service),
    at === null ? null : `${isActive ? 'since' : 'ended'} ${utc(at)} (${away(at, view.at)})`,
    service.mainPid === null ? null : `pid ${service.mainPid}`,
    service.restarts === null ? null : count(service.restarts, 'restart'),
    isActive ? null : endOf(service),
  ])
  const value = {
    state: stateOf(service),
    active: service.activeState === null ? null : isActive,
    expected: service.expected,
    startedAt: iso(service.startedAt),
    endedAt: isActive ? null : iso(service.exitedAt),
    mainPid: service.mainPid,
    restarts: service.restarts,
    lastExit: endOf(service),
  }
  return fact([name], text === null ? null : value, {
    label: name,
    text: () => text ?? '',
    tone: () => toneOf(service),
  })
}

const cleanupTimer = (view: View): readonly Fact[] =>
  unitsIn(view).timers.map(({ timer, activeState, lastTriggerAt, nextTriggerAt }) =>
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
            lastTriggerAt === null ? null : `last ${away(lastTriggerAt, view.at)}`,
            nextTriggerAt === null ? null : `next ${away(nextTriggerAt, view.at)}`,
          ]) ?? '',
        tone: () => (activeState === 'active' ? undefined : 'notice'),
      },
    ),
  )

/** The words that the report has for them: `running`, or another. */
function reported(view: View): readonly Fact[] {
  const { services: words, cleanup } = reportIn(view)
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
        tone: (said) => (said === 'running' ? undefined : 'notice'),
      }),
    ),
    fact('cleanup', inWords === null ? null : { ...cleanup }, {
      label: 'clean-up',
      text: () => inWords ?? '',
      tone: () => (activated === false ? 'notice' : undefined),
    }),
  ]
}

/** The bad ones first, each with its end; what need not run and does not is left out. */
const summaryOf = (units: readonly Service[]): Summary => {
  const named = units.map((service) => ({
    name: service.service ?? '',
    state: stateOf(service),
    end: endOf(service),
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

/** Where systemd could not be asked. */
const summaryOfReport = (view: View): Summary => {
  const words = Object.entries(reportIn(view).services)
  const isWell = words.every(([, word]) => word === 'running')
  return summary(
    joined(words.map(([service, word]) => `${service} ${word}`)),
    isWell ? undefined : 'notice',
  )
}
