import { randomInt } from 'node:crypto'
import { deliveryState, isAcceptedHeartbeat, createOutbox } from '../../outbound/outbox.ts'
import type { Config } from '../../config/schema.ts'
import { second, minute } from '../../core/units.ts'
import { createAlertmanagerEndpoint, createHeartbeat } from '../../sources/endpoints.ts'
import type { SendRequest } from '../../sources/http.ts'
import { loadFor } from '../../terminal/config.ts'
import { type ConfigOptions, flagsOf } from '../../terminal/config-options.ts'
import { type ActionContext, type Io, unlessInterrupted, UsageError } from '../../terminal/io.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { createProgress } from '../../terminal/progress.ts'
import type { Style } from '../../terminal/style.ts'
import { alertLabels, clientOf } from '../shared/alert-request.ts'
import { ifUnreadable } from '../../core/errors.ts'
import { duration } from '../../core/format.ts'
import {
  type AlertmanagerReader,
  createAlertmanagerReader,
  type GroupTimes,
  type Labels,
  type Target,
} from './alertmanager.ts'

interface TestOptions extends ConfigOptions, OutputOptions {
  readonly severity: string
  readonly alertmanager?: string
  /** In milliseconds. */
  readonly wait: number
}

/** `chain-agent alert test`. */
export const testAlert = async ({ io, exit, options }: ActionContext<TestOptions>): Promise<void> => {
  const { severity, alertmanager, wait } = options
  const { config } = loadFor(io, options.config, [
    ...flagsOf(options),
    ...(alertmanager === undefined
      ? []
      : [{ path: 'alertmanagers.urls', value: JSON.stringify([alertmanager]), typed: '--alertmanager' }]),
  ])
  const { urls } = config.alertmanagers
  if (urls.length === 0 && config.heartbeat.urlFile === null)
    throw new UsageError(
      'There is nothing to test: set alertmanagers.urls or heartbeat.urlFile, or use --alertmanager URL.',
    )
  const code = String(randomInt(1000, 10_000))
  // Each test has a name of its own: Alertmanager groups by it, and a test after another one need not wait for a group.
  const alertname = `ChainTest ${new Date(io.clock.now()).toISOString()}`
  const labels = await alertLabels(config, { alertname, severity })
  const progress = createProgress(io)
  const ended = new AbortController()
  const { alertmanagers, heartbeat } = await unlessInterrupted(io, async () => {
    void showProgress(io, ended.signal, progress.show)
    const ask = await clientOf(io, config)
    return {
      alertmanagers: await Promise.all(
        urls.map(async (url) => followAlert({ ...io, ask }, { url, labels, code, wait })),
      ),
      heartbeat: await heartbeatState(io, ask, config),
    }
  }).finally(() => {
    ended.abort()
    progress.end()
  })
  const isOk = alertmanagers.every(({ problem }) => problem === null) && (heartbeat ?? ACCEPTED) === ACCEPTED
  const exitCode = isOk ? 0 : 1
  printResult(
    { io, options },
    {
      document: () => ({ code, labels, alertmanagers, heartbeat, exitCode }),
      lines: (style) => [
        ...alertmanagers.flatMap((result) => linesOf(result, code, style)),
        ...(heartbeat === null ? [] : style.pairs([['heartbeat', marked(heartbeat === ACCEPTED, heartbeat, style)]])),
      ],
    },
  )
  exit(exitCode)
}

const ACCEPTED = 'accepted'

const showProgress = async ({ clock }: Io, signal: AbortSignal, show: (text: string) => void): Promise<void> => {
  const startedAt = clock.elapsed()
  while (!signal.aborted) {
    show(`Waiting for the delivery: ${Math.round((clock.elapsed() - startedAt) / second)} s`)
    await clock.sleep(second, signal)
  }
}

const HEARTBEAT_MS = 10 * second

/** `accepted`, or why a heartbeat is not; null if none is configured. */
const heartbeatState = async (io: Io, ask: SendRequest, { heartbeat: { urlFile } }: Config): Promise<string | null> => {
  if (urlFile === null) return null
  const send = createHeartbeat(ask, urlFile, HEARTBEAT_MS)
  return deliveryState(send({ at: new Date(io.clock.now()).toISOString(), test: true }, io.signal), isAcceptedHeartbeat)
}

const linesOf = (
  { alertmanager, version, deliveries, problem }: TestResult,
  code: string,
  style: Style,
): readonly string[] => [
  style.paint('strong', `Alertmanager ${alertmanager}${version === null ? '' : ` (${version})`}`),
  ...style.pairs([
    ...deliveries.map(({ receiver, integration, state, seconds }): readonly [string, string] => [
      `${receiver}: ${integration}`,
      marked(
        state === 'delivered',
        seconds === null ? state : `handed to ${integration} after ${seconds} s: look for ${code} on your phone`,
        style,
      ),
    ]),
    ...(problem === null ? [] : [['result', marked(false, problem, style)] as const]),
  ]),
]

const marked = (isOk: boolean, text: string, style: Style): string =>
  style.paint(isOk ? 'good' : 'bad', `${style.sign(isOk ? 'good' : 'bad')} ${text}`)

/** What one integration of a receiver of the test alert did. */
interface Delivery extends Target {
  /** `delivered`: its service has accepted the message, which does not show that a person has it. */
  readonly state: 'delivered' | 'failed' | 'failing' | 'waiting' | 'cannot tell'
  /** Seconds from the alert to its delivery; null if none is known. */
  readonly seconds: number | null
}

type TestResult = Awaited<ReturnType<typeof followAlert>>
type Metrics = Awaited<ReturnType<AlertmanagerReader['metrics']>>
type Groups = Awaited<ReturnType<AlertmanagerReader['groups']>>

interface FollowOptions {
  readonly url: string
  readonly labels: Labels
  /** Four digits, which a person compares. */
  readonly code: string
  /** How long the delivery may take, in milliseconds. */
  readonly wait: number
}

type FollowContext = Pick<Io, 'clock' | 'signal'> & { readonly ask: SendRequest }

const REQUEST_MS = 10 * second
const POLL_MS = second
/** Alertmanager ends an alert that is not sent again within its resolve_timeout, five minutes by default. */
const RESEND_MS = minute
/** A group is sent at most this late. */
const SENT_WITHIN_MS = 3 * second
/** The start of the alert is earlier by up to this, as the Date of a response has no fraction; group_wait counts from it. */
const SENT_EARLY_MS = second

/** Sends a test alert to one Alertmanager, follows it to its receivers, and ends it. */
export const followAlert = async (
  { clock, signal, ask }: FollowContext,
  { url, labels, code, wait }: FollowOptions,
) => {
  const endpoint = createAlertmanagerEndpoint(ask, url, REQUEST_MS)
  const send = createOutbox(endpoint, clock)
  const annotations = {
    summary: `test ${code} of the notifications`,
    description: `Test ${code}, by \`chain-agent alert test\`: no action is needed.`,
    action: `Compare ${code} with the output of \`chain-agent alert test\`.`,
  }
  const alert = { labels, annotations, startsAt: clock.now() }
  let version: string | null = null
  /** `problem`: why it is not known that the alert was delivered to each of its receivers; null if it is. */
  const result = (problem: string | null, deliveries: readonly Delivery[] = []) => ({
    /** Host and port. */
    alertmanager: endpoint.name,
    version,
    deliveries,
    problem,
  })
  try {
    // Without an alert: the response has the clock of Alertmanager.
    const reached = await send([], signal)
    if (reached !== 'accepted') return result(`the alert is not accepted: ${reached}`)
    const reader = createAlertmanagerReader(endpoint, signal)
    const routing = await reader.routing()
    version = routing.version
    const before = await reader.metrics()
    const startedAt = clock.elapsed()
    const sent = await send([alert], signal)
    let sentAt = startedAt
    if (sent !== 'accepted') return result(`the alert is not accepted: ${sent}`)
    const within = <T>(step: () => Promise<T | undefined>) => until({ clock, signal }, startedAt + wait, step)
    try {
      const routed = await within(() => reader.routed(labels))
      const targets = (routed?.receivers ?? []).flatMap((receiver) =>
        (routing.integrations.get(receiver) ?? []).map((integration) => ({ receiver, integration })),
      )
      const obstacle = obstacleOf(routed, targets.length)
      if (obstacle !== null) return result(obstacle)
      const { integrations } = routing
      const evidence = targets.map((target) =>
        createEvidence(target, { before, targets, integrations, ...routing.times(labels, target.receiver) }),
      )
      let deliveries: readonly Delivery[] = []
      await within(async () => {
        if (clock.elapsed() - sentAt >= RESEND_MS) {
          await send([alert], signal)
          sentAt = clock.elapsed()
        }
        // The metrics are between two lists of groups: an alert that comes or goes in the meantime is in one of them.
        const groups = [await reader.groups(labels)]
        const metrics = await reader.metrics()
        groups.push(await reader.groups(labels))
        deliveries = evidence.map(({ observe }) => observe(metrics, groups, clock.elapsed() - startedAt))
        return evidence.every(({ isDecided }) => isDecided()) || undefined
      })
      const reasons = evidence.flatMap(({ unclear }) => unclear() ?? [])
      return result(problemOf(deliveries, { wait, code, reason: reasons[0] }), deliveries)
    } finally {
      // Not with `signal`: an interruption ends the alert, too.
      await send([], new AbortController().signal)
    }
  } catch (error) {
    return ifUnreadable(({ message }) => result(message))(error)
  }
}

interface EvidenceContext extends GroupTimes {
  /** The metrics before the alert. */
  readonly before: Metrics
  readonly targets: readonly Target[]
  readonly integrations: ReadonlyMap<string, readonly string[]>
}

/** Alertmanager repeats a request that failed, after 0.5 s, 0.75 s and so on. */
const MAX_ATTEMPTS = 3

/**
 * What the counters of an integration show about the test alert. They count every notification: a higher one proves a
 * delivery only after the time of the group, and if no other alert can be the cause.
 */
const createEvidence = (target: Target, { before, targets, integrations, wait, interval }: EvidenceContext) => {
  const { integration, receiver } = target
  const start = before.deliveries(target)
  let reason: string | undefined
  let decided: Delivery | undefined

  /** Why the counters of this integration may count something else than the test alert; undefined if they cannot. */
  const whyUnclear = (metrics: Metrics, groups: readonly Groups[]): string | undefined => {
    const isCounted = (one: Target): boolean =>
      one.integration === integration && (!metrics.hasReceivers || one.receiver === receiver)
    if (targets.filter(isCounted).length > 1)
      return `the metrics of Alertmanager have one counter for all its receivers of the kind ${integration}`
    const others = groups.flatMap(({ otherReceivers }) => [...otherReceivers])
    if (
      others.some((other) => integrations.get(other)?.some((own) => isCounted({ receiver: other, integration: own })))
    )
      return `other alerts are sent by ${integration}, too, and the metrics of Alertmanager do not name the alert`
    // The groups with alerts that are not over.
    const listed = Math.max(...groups.map(({ count }) => count))
    return metrics.groups !== undefined && metrics.groups > listed
      ? 'an alert is over whose end may be sent at the same time'
      : undefined
  }

  return {
    isDecided: (): boolean => decided !== undefined,
    unclear: (): string | undefined => reason,
    /** `elapsed`: milliseconds since the alert. */
    observe: (metrics: Metrics, groups: readonly Groups[], elapsed: number): Delivery => {
      if (decided !== undefined) return decided
      const now = metrics.deliveries(target)
      const increase = (of: keyof typeof start): number => now[of] - start[of]
      const isEarly = increase('delivered') > 0 && elapsed < wait - SENT_EARLY_MS
      reason ??= whyUnclear(metrics, groups) ?? (isEarly ? 'another notification was sent at the same time' : undefined)
      // Whether other alerts are in the group of the test alert.
      const isShared = groups.some(({ shared }) => shared.get(receiver))
      const hasGivenUp = increase('givenUp') > 0 || increase('failed') >= MAX_ATTEMPTS
      const isSent = elapsed >= (isShared ? interval : wait) + SENT_WITHIN_MS
      const delivery = (state: Delivery['state'], seconds: number | null = null): Delivery => ({
        ...target,
        state,
        seconds,
      })
      if (reason !== undefined) {
        // The alert lives until its group has been sent: its end would prevent that.
        if (isSent) decided = delivery(hasGivenUp && increase('delivered') === 0 ? 'failed' : 'cannot tell')
        return decided ?? delivery(isShared && elapsed < interval ? 'waiting' : 'cannot tell')
      }
      if (increase('delivered') > 0) decided = delivery('delivered', Math.round(elapsed / second))
      else if (hasGivenUp) decided = delivery('failed')
      return decided ?? delivery(increase('failed') > 0 ? 'failing' : 'waiting')
    },
  }
}

/** Null if the service of every receiver has accepted the message. */
const problemOf = (
  deliveries: readonly Delivery[],
  { wait, code, reason }: Pick<FollowOptions, 'wait' | 'code'> & { readonly reason: string | undefined },
): string | null => {
  const states = deliveries.map(({ state }) => state)
  if (states.includes('failed') || states.includes('failing'))
    return 'not delivered: the receiver is unreachable or rejects it. The reason is in the log of Alertmanager: `journalctl -u prometheus-alertmanager`'
  if (states.includes('waiting'))
    return `not sent within ${duration(wait)}: the group of the alert waits for group_wait or group_interval. Use a longer --wait`
  return states.every((state) => state === 'delivered')
    ? null
    : `cannot tell whether it was delivered: ${reason}. Look for ${code} on your phone: only its message shows that`
}

const obstacleOf = (routed: Awaited<ReturnType<AlertmanagerReader['routed']>>, targets: number): string | null => {
  if (!routed) return 'Alertmanager has accepted the alert and does not list it'
  const receivers = routed.receivers.join(', ')
  if (routed.suppressedBy !== null) return `the alert for ${receivers} is not sent: it is ${routed.suppressedBy}`
  return targets === 0 ? `the alert is not sent: ${receivers} has no integration` : null
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
