import type { Spoken } from '../scenario/logs.ts'
import { pidOf } from '../scenario/service.ts'
import type { Change, Timeline } from '../scenario/timeline.ts'
import type { Draft } from './journal.ts'
import { type LogLine, renderLogLine } from './log-line.ts'
import { serviceEntry } from './service-entry.ts'
import { consensusWords, executionWords, renderExecutionLine } from './spoken.ts'
import { steadyMoments } from './steady-moments.ts'

interface Subject {
  readonly node: string
  readonly prefix: string
}

/** What a scenario made a program say at a change; a program that does not run says nothing. */
export function* spokenEntries(
  subject: Subject,
  { atMs, before, after }: Change,
): Generator<Draft> {
  const { last } = after.speech
  if (!last || last === before.speech.last) return
  const service = before.services[last.role]
  if (service.state !== 'active') return
  const { prefix } = subject
  const program = last.role === 'bft' ? `${prefix}-node` : prefix
  for (const text of textsOf(last, { atMs, prefix, pid: pidOf(service) })) {
    yield serviceEntry(subject, service, { atMs, text, program })
  }
}

interface Moment {
  readonly atMs: number
  readonly pid: number
  readonly prefix: string
}

const textsOf = (spoken: Spoken, moment: Moment): readonly string[] => {
  if (spoken.role === 'execution') {
    return executionWords[spoken.says].map((line) => renderExecutionLine(line, moment))
  }
  const words = consensusWords[spoken.says]
  const message = words.message.replace('PREFIX', moment.prefix)
  return [renderLogLine(moment.prefix, { ...words, message, atMs: moment.atMs })]
}

const NETWORK_ERRORS = [
  { target: 'wireauth', message: 'failed to decrypt message' },
  { target: 'wireauth', message: 'session timeout expired' },
  { target: 'consensus_state', message: 'Timestamp validation failed' },
] as const
const NOISY_PEERS = 5

/** What consensus writes again and again, as long as a scenario wants it. */
export const createSteadyTroubles = (timeline: Timeline) =>
  function* (fromMs: number, toMs: number): Generator<LogLine> {
    const stretch = { fromMs, toMs }
    for (const { atMs } of steadyMoments(timeline, ({ speech }) => speech.walStopped, stretch)) {
      yield { atMs, ...consensusWords.wal_stopped }
    }
    const errors = steadyMoments(timeline, ({ speech }) => speech.networkErrors, stretch)
    for (const { atMs, number } of errors) {
      const { target, message } =
        NETWORK_ERRORS[number % NETWORK_ERRORS.length] ?? NETWORK_ERRORS[0]
      const peer = Math.floor(number / NETWORK_ERRORS.length) % NOISY_PEERS
      const fields = { addr: `203.0.113.${20 + peer}:8000` }
      yield { atMs, level: 'WARN', target, message, fields }
    }
  }
