import { figure } from '../../core/format.ts'
import { badUnless, fact, iso, noticeIf, relativeTime } from './fact.ts'
import { group, type Section, summary, type View, whyUnknown } from './section.ts'
import { collectorsOf, maintenanceWindow } from '../facts.ts'
import { NO_WINDOW_IN_FAULT } from '../diagnosis.ts'
import { notificationsOf, type Receiver } from '../notifications.ts'
import { RESTART_TONES, type RestartCost } from '../restart-window.ts'

/** The agent, or what this command has read in its place. */
export const agent: Section = {
  name: 'agent',
  aliases: ['collectors'],
  groups: [
    group(null, 'the agent', (view) => {
      const { version, prefix, origin, collectors } = view.snapshot
      return [
        fact('runs', origin === 'agent', { tone: (runs) => noticeIf(!runs) }),
        fact('version', version),
        fact('prefix', prefix),
        ...collectors.map((status) => {
          const { name, enabled, up, lastSuccessAt, error } = status
          const state = !enabled ? 'off' : up === null ? 'first attempt not finished' : up ? 'ok' : 'bad'
          const value = { enabled, up, lastSuccessAt: iso(lastSuccessAt), error: error?.message ?? null }
          return fact(['collectors', name], value, {
            label: name,
            text: () =>
              state === 'bad'
                ? (whyUnknown(status) ?? 'no fresh reading')
                : state === 'ok' && lastSuccessAt !== null
                  ? `ok, ${relativeTime(lastSuccessAt, view.at)}`
                  : state,
            tone: () => (state === 'bad' ? 'bad' : state === 'off' ? 'quiet' : undefined),
          })
        }),
      ]
    }),
  ],
  summary: (view) => {
    const { text: works, failing } = collectorsOf(view.snapshot)
    const text = failing.length === 0 ? works : `${works}; failing: ${failing.join(', ')}`
    return summary(
      view.snapshot.origin === 'agent' ? text : `not running; read from the node, ${text}`,
      noticeIf(failing.length > 0 || view.snapshot.origin !== 'agent'),
    )
  },
}

const receiverFact = (path: string | readonly string[], { isAccepted, text, name }: Receiver) =>
  fact(path, { isAccepted, text }, { label: name, text: () => text, tone: badUnless(isAccepted !== false) })

/** The receivers of what the agent sends: without an Alertmanager, no one is notified of a fault. */
export const notifications: Section = {
  name: 'alerts',
  aliases: ['notifications', 'alertmanagers'],
  groups: [
    group(null, 'the collectors alertmanagers and heartbeat', ({ snapshot }) => {
      const { alertmanagers, heartbeat, text, next } = notificationsOf(snapshot)
      return [
        fact('summary', text),
        ...alertmanagers.map((one) => receiverFact(['alertmanagers', one.name], one)),
        ...(heartbeat ? [receiverFact('heartbeat', heartbeat)] : []),
        ...(next === null ? [] : [fact('next', next)]),
      ]
    }),
  ],
  summary: ({ snapshot }) => {
    const { text, tone } = notificationsOf(snapshot)
    return summary(text, tone)
  },
}

/** Without a reading, it is unknown whether a window is set. */
const isKnown = (view: View): boolean => view.hasReading('maintenance')

export const maintenance: Section = {
  name: 'maintenance',
  groups: [
    group('maintenance', 'the operator', (view) => {
      const found = maintenanceWindow(view.snapshot)
      const announced = fact('announced', isKnown(view) ? found !== undefined : null)
      if (!found) return [announced]
      return [
        announced,
        fact('reason', found.reason),
        view.time('until', found.until),
        fact('note', view.readings.maintenance?.note, { absent: 'none' }),
      ]
    }),
  ],
  summary: (view) => {
    const found = maintenanceWindow(view.snapshot)
    if (found) return summary(`${found.reason}, ${found.left} left`, 'notice')
    return isKnown(view) ? summary('none') : null
  },
}

/** The cost of a restart, as in JSON. */
export const costDocument = ({ rounds, fewest, knownUntil, summary: text }: RestartCost) => ({
  rounds,
  fewest: fewest && { rounds: fewest.rounds, at: iso(fewest.at) },
  knownUntil: iso(knownUntil),
  summary: text,
})

const ownRoundsFact = (cost: RestartCost) =>
  fact('ownRounds', costDocument(cost), { label: 'own rounds', text: () => cost.summary })

/** Whether consensus and execution can be restarted together now, as planned. */
export const restart: Section = {
  name: 'restart',
  isOfNode: true,
  groups: [
    group(null, 'the other sections', ({ restart: planned, time }) => [
      fact('safe', planned?.isSafe, { unknownReason: NO_WINDOW_IN_FAULT }),
      ...(planned?.checks ?? []).map(({ name, state, summary: why }) =>
        fact(
          ['checks', name],
          { state, summary: why },
          {
            label: name,
            text: () => (state === 'unknown' ? `unknown: ${why}` : why),
            tone: () => RESTART_TONES[state],
          },
        ),
      ),
      ...(planned === null ? [] : [ownRoundsFact(planned.ownRounds)]),
      ...(planned?.isSafe === false ? [time('nextAt', planned.nextAt, { label: 'next safe' })] : []),
    ]),
  ],
  summary: (view) => summary(view.restart?.summary ?? NO_WINDOW_IN_FAULT),
}

/** Another node, as its agent reports it to this one. */
export const watched: Section = {
  name: 'watched',
  groups: [
    group('watched', 'the heartbeats of its agent, and its port', (view) => {
      const reading = view.readings.watched
      const heartbeat = reading?.heartbeat
      const none = reading?.receivedAt === null ? { unknownReason: 'no heartbeat was received' } : {}
      return [
        fact('node', reading?.node),
        view.time('receivedAt', reading?.receivedAt, { label: 'last heartbeat', ...none }),
        fact('health', heartbeat?.health, none),
        fact('causes', heartbeat?.causes, {
          text: (causes) => (causes.length === 0 ? 'none' : causes.join('; ')),
          ...none,
        }),
        fact('maintenance', heartbeat?.maintenance, { absent: heartbeat ? 'none' : undefined }),
        fact('height', heartbeat?.height, { text: figure }),
        fact('blockDifference', heartbeat?.blockDifference, { label: 'behind the network', text: figure }),
        fact('port', reading?.port, { label: 'public port' }),
      ]
    }),
  ],
  summary: (view) => {
    const { node = null, receivedAt = null, heartbeat, port = null } = view.readings.watched ?? {}
    if (node === null) return null
    const age = receivedAt === null ? 'no heartbeat yet' : `heartbeat ${relativeTime(receivedAt, view.at)}`
    const tone = heartbeat?.health === 'critical' || port === 'silent' ? 'bad' : undefined
    return summary([`${node}: ${heartbeat?.health ?? 'unknown'}`, age, port && `port ${port}`], tone)
  },
}
