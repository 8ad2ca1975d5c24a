import { figure } from '../../core/format.ts'
import { fact, relativeTime, timeFact } from './fact.ts'
import { group, joined, type Section, summary } from './section.ts'

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
        timeFact('receivedAt', reading?.receivedAt, { label: 'last heartbeat', now: view.at, ...none }),
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
    return summary(joined([`${node}: ${heartbeat?.health ?? 'unknown'}`, age, port && `port ${port}`]), tone)
  },
}
