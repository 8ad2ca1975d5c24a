import { deliveryState, isAcceptedAlert } from '../../collectors/shared/request.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { duration } from '../../core/format.ts'
import { minute, second } from '../../core/units.ts'
import { createAlertmanagerEndpoint } from '../../sources/alertmanager.ts'
import type { SendRequest } from '../../sources/http.ts'
import type { Io } from '../../terminal/io.ts'
import { createAlertmanagerReader, type Deliveries, type Routed } from './alertmanager.ts'

/** What one integration of a receiver of the test alert did. */
interface Delivery {
  readonly receiver: string
  /** webhook, telegram, … */
  readonly integration: string
  readonly state: 'delivered' | 'failed' | 'failing' | 'waiting'
  /** Seconds from the alert to its delivery; null if there was none. */
  readonly seconds: number | null
}

export interface TestResult {
  /** Host and port. */
  readonly alertmanager: string
  readonly version: string | null
  readonly deliveries: readonly Delivery[]
  /** Why the alert did not reach each of its receivers; null if it did. */
  readonly problem: string | null
}

interface FollowOptions {
  readonly url: string
  readonly labels: Readonly<Record<string, string>>
  /** How long the delivery may take, in milliseconds. */
  readonly wait: number
}

type FollowContext = Pick<Io, 'clock' | 'signal'> & { readonly ask: SendRequest }

const REQUEST_MS = 10 * second
const POLL_MS = second

const ANNOTATIONS = {
  summary: 'A test of the notifications.',
  description: 'A test of `chain-agent alert test`: no action is needed.',
}

/** Sends a test alert to one Alertmanager, follows it to its receivers, and ends it. */
export const followAlert = async (
  { clock, signal, ask }: FollowContext,
  { url, labels, wait }: FollowOptions,
): Promise<TestResult> => {
  const endpoint = createAlertmanagerEndpoint(ask, url, REQUEST_MS)
  const startsAt = clock.now()
  const send = async (endsAt: number): Promise<string> => {
    const times = { startsAt: new Date(startsAt).toISOString(), endsAt: new Date(endsAt).toISOString() }
    return deliveryState(endpoint.send([{ labels, annotations: ANNOTATIONS, ...times }], signal), isAcceptedAlert)
  }
  let version: string | null = null
  const result = (problem: string | null, deliveries: readonly Delivery[] = []): TestResult => ({
    alertmanager: endpoint.name,
    version,
    deliveries,
    problem,
  })
  try {
    const reader = createAlertmanagerReader(endpoint, signal)
    const routing = await reader.routing()
    version = routing.version
    const before = await reader.deliveries()
    const state = await send(startsAt + wait + minute)
    if (state !== 'accepted') return result(`the alert is not accepted: ${state}`)
    const startedAt = clock.elapsed()
    const within = <T>(step: () => Promise<T | undefined>) => until({ clock, signal }, startedAt + wait, step)
    try {
      const routed = await within(() => reader.routed(labels))
      const targets = (routed?.receivers ?? []).flatMap((receiver) =>
        (routing.integrations.get(receiver) ?? []).map((integration) => ({ receiver, integration })),
      )
      const obstacle = obstacleOf(routed, targets.length)
      if (obstacle !== null) return result(obstacle)
      let deliveries: readonly Delivery[] = []
      await within(async () => {
        const now = await reader.deliveries()
        deliveries = targets.map((target, index) => {
          const known = deliveries[index]
          if (known?.state === 'delivered') return known
          const { integration } = target
          // The metrics have integrations, not receivers: those of the same kind are reached when all are.
          const wanted = targets.filter((one) => one.integration === integration).length
          const became = stateOf(before.get(integration), now.get(integration), wanted)
          const seconds = became === 'delivered' ? Math.round((clock.elapsed() - startedAt) / second) : null
          return { ...target, state: became, seconds }
        })
        return deliveries.every(({ state: one }) => one === 'delivered' || one === 'failed') || undefined
      })
      return result(problemOf(deliveries, wait), deliveries)
    } finally {
      await send(clock.now())
    }
  } catch (error) {
    if (error instanceof SourceError || error instanceof ParseError) return result(error.message)
    throw error
  }
}

/** Null if every receiver was reached. */
const problemOf = (deliveries: readonly Delivery[], wait: number): string | null => {
  const states = deliveries.map(({ state }) => state)
  if (states.includes('failed') || states.includes('failing'))
    return 'not delivered: the receiver is unreachable or rejects it. The reason is in the log of Alertmanager: `journalctl -u prometheus-alertmanager`'
  return states.every((state) => state === 'delivered')
    ? null
    : `not sent within ${duration(wait)}: the group of the alert waits for group_wait or group_interval. Use a longer --wait`
}

const obstacleOf = (routed: Routed | undefined, targets: number): string | null => {
  if (!routed) return 'Alertmanager has accepted the alert and does not list it'
  const receivers = routed.receivers.join(', ')
  if (routed.suppressedBy !== null) return `the alert for ${receivers} is not sent: it is ${routed.suppressedBy}`
  return targets === 0 ? `the alert is not sent: ${receivers} has no integration` : null
}

/** Alertmanager repeats a request that failed, after 0.5 s, 0.75 s and so on. */
const MAX_ATTEMPTS = 3

const stateOf = (before: Deliveries | undefined, now: Deliveries | undefined, wanted: number): Delivery['state'] => {
  const increase = (of: keyof Deliveries): number => (now?.[of] ?? 0) - (before?.[of] ?? 0)
  if (increase('delivered') >= wanted) return 'delivered'
  if (increase('givenUp') > 0 || increase('failed') >= MAX_ATTEMPTS) return 'failed'
  return increase('failed') > 0 ? 'failing' : 'waiting'
}

/** Repeats the step every second until it returns something; undefined at the deadline, on the monotonic clock. */
const until = async <T>(
  { clock, signal }: Pick<Io, 'clock' | 'signal'>,
  deadline: number,
  step: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  for (;;) {
    const value = await step()
    if (value !== undefined || clock.elapsed() >= deadline || signal.aborted) return value
    await clock.sleep(POLL_MS, signal)
  }
}
