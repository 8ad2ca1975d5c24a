import { shortDuration } from '../core/format.ts'
import type { NodeSnapshot } from './snapshot.ts'

type NotificationInput = Pick<NodeSnapshot, 'at' | 'origin' | 'outbound' | 'collectors' | 'readings'>

/** How one receiver takes what the agent sends. */
export interface Receiver {
  readonly name: string
  /** Whether it accepted what was last sent; null if that is unknown. */
  readonly isAccepted: boolean | null
  readonly text: string
}

const NO_ONE = 'no one is notified by the agent: set `alertmanagers.urls`'
const NEXT = '`chain-agent alert --help`'
const NOT_RUNNING = 'no one is notified until the agent runs'
const ACCEPTED = 'accepted'

/** Which receivers are notified by the agent. */
export const notificationsOf = (input: NotificationInput) => {
  const { origin, outbound, collectors } = input
  const isRunning = (collector: string): boolean =>
    origin === 'agent' && collectors.some(({ name, enabled }) => name === collector && enabled)
  const running = isRunning('alertmanagers') ? runningAlertmanagers(input) : []
  const heartbeat = isRunning('heartbeat') ? runningHeartbeat(input) : null
  const configured = origin === 'node' ? outbound.alertmanagers.join(', ') : ''
  const isUnset = !isRunning('alertmanagers') && configured === ''
  const text = isUnset
    ? NO_ONE
    : configured === ''
      ? running.map((one) => `${one.name} ${one.text}`).join('; ')
      : `${NOT_RUNNING}: ${configured} by the configuration`
  const isOk = running.length > 0 && running.every(({ isAccepted }) => isAccepted !== false)
  return {
    alertmanagers: running,
    /** Its receiver notices that it ends, and is sent no alerts. */
    heartbeat,
    /** Who is sent alerts, in a line. */
    text,
    /** The command that explains what to do, if no Alertmanager is configured. */
    next: isUnset ? NEXT : null,
    tone: isOk ? undefined : ('notice' as const),
  }
}

/** Whether an alert that fires is sent to an Alertmanager, which has accepted what the agent last sent. */
export const isNotified = (input: Pick<NotificationInput, 'origin' | 'readings'>): boolean =>
  input.origin === 'agent' && Object.values(input.readings.alertmanagers?.states ?? {}).includes(ACCEPTED)

const runningAlertmanagers = ({
  at,
  outbound,
  readings: { alertmanagers },
}: NotificationInput): readonly Receiver[] => {
  // Before the first reading; its names are those of the configuration.
  if (!alertmanagers)
    return (outbound.alertmanagers.length === 0 ? ['Alertmanager'] : outbound.alertmanagers).map((name) => ({
      name,
      isAccepted: null,
      text: 'has not been sent alerts yet',
    }))
  const { states, lastAlertAt } = alertmanagers
  return Object.entries(states).map(([name, state]) => {
    const isAccepted = state === ACCEPTED
    const last = lastAlertAt[name] ?? null
    const lastText = last === null ? '; no alert yet' : `; last alert ${shortDuration(at - last)} ago`
    const text = `${isAccepted ? 'accepts alerts' : `does not accept alerts: ${state}`}${lastText}`
    return { name, isAccepted, text }
  })
}

const runningHeartbeat = ({ at, readings: { heartbeat } }: NotificationInput): Receiver => {
  const { state = null, lastSuccessAt = null } = heartbeat ?? {}
  const isAccepted = state === null ? null : state === ACCEPTED
  const last = lastSuccessAt === null ? '' : ` ${shortDuration(at - lastSuccessAt)} ago`
  const text =
    isAccepted === null ? 'not sent yet' : isAccepted ? `accepted${last}` : `not accepted: ${state ?? 'unknown'}`
  return { name: 'heartbeat', isAccepted, text }
}
