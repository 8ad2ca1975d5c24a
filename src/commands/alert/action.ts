import { randomInt } from 'node:crypto'
import { deliveryState, isAcceptedHeartbeat } from '../../outbound/delivery.ts'
import type { Config } from '../../config/schema.ts'
import { second } from '../../core/units.ts'
import { createHeartbeat } from '../../sources/endpoints.ts'
import { createHttpClient, type SendRequest } from '../../sources/http.ts'
import { loadFor } from '../../terminal/config.ts'
import { type ConfigOptions, flagsOf } from '../../terminal/config-options.ts'
import { type ActionContext, type Io, unlessInterrupted, UsageError } from '../../terminal/io.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { createProgress } from '../../terminal/progress.ts'
import { pairs, type Style } from '../../terminal/style.ts'
import { alertLabels, authoritiesOf } from '../shared/alert-request.ts'
import { followAlert, type TestResult } from './follow.ts'

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
  const tested = await unlessInterrupted(io, exit, async () => {
    void showProgress(io, ended.signal, progress.show)
    const ask = io.overrides?.ask ?? createHttpClient(io.clock, await authoritiesOf(io, config))
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
  if (!tested) return
  const { alertmanagers, heartbeat } = tested
  const isOk = alertmanagers.every(({ problem }) => problem === null) && (heartbeat ?? ACCEPTED) === ACCEPTED
  const exitCode = isOk ? 0 : 1
  printResult(
    { io, options },
    {
      document: () => ({ code, labels, alertmanagers, heartbeat, exitCode }),
      lines: (style) => [
        ...alertmanagers.flatMap((result) => linesOf(result, code, style)),
        ...(heartbeat === null ? [] : pairs([['heartbeat', marked(heartbeat === ACCEPTED, heartbeat, style)]], style)),
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
  const send = createHeartbeat({ ask, urlFile, timeout: HEARTBEAT_MS })
  return deliveryState(send({ at: new Date(io.clock.now()).toISOString(), test: true }, io.signal), isAcceptedHeartbeat)
}

const linesOf = (
  { alertmanager, version, deliveries, problem }: TestResult,
  code: string,
  style: Style,
): readonly string[] => [
  style.paint('strong', `Alertmanager ${alertmanager}${version === null ? '' : ` (${version})`}`),
  ...pairs(
    [
      ...deliveries.map(({ receiver, integration, state, seconds }): readonly [string, string] => [
        `${receiver}: ${integration}`,
        marked(
          state === 'delivered',
          seconds === null ? state : `handed to ${integration} after ${seconds} s: look for ${code} on your phone`,
          style,
        ),
      ]),
      ...(problem === null ? [] : [['result', marked(false, problem, style)] as const]),
    ],
    style,
  ),
]

const marked = (isOk: boolean, text: string, style: Style): string =>
  style.paint(isOk ? 'good' : 'bad', `${style.sign(isOk ? 'good' : 'bad')} ${text}`)
