import { randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { rootCertificates } from 'node:tls'
import { deliveryState, isAcceptedHeartbeat } from '../../collectors/shared/request.ts'
import type { Config } from '../../config/schema.ts'
import { SourceError } from '../../core/errors.ts'
import { second } from '../../core/units.ts'
import { createHeartbeat } from '../../sources/endpoints.ts'
import { createExec } from '../../sources/exec.ts'
import { createHostSources } from '../../sources/host.ts'
import { createHttpClient, type SendRequest } from '../../sources/http.ts'
import { loadFor } from '../../terminal/config.ts'
import { type ConfigOptions, flagsOf } from '../../terminal/config-options.ts'
import { type ActionContext, type Io, sourceContext, unlessInterrupted, UsageError } from '../../terminal/io.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { createProgress } from '../../terminal/progress.ts'
import { pairs, type Style } from '../../terminal/style.ts'
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
  const labels = await labelsOf(config, { severity, at: io.clock.now() })
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

/** Each test has a name of its own: Alertmanager groups by it, and a test after another one need not wait for a group. */
const labelsOf = async (
  { alertmanagers, host }: Config,
  { severity, at }: { readonly severity: string; readonly at: number },
): Promise<Readonly<Record<string, string>>> => {
  const { job, instance, labels } = alertmanagers
  const { procfs } = createHostSources(host)
  const hostName = await procfs.read('sys/kernel/hostname').catch(() => null)
  return {
    ...labels,
    alertname: `ChainTest ${new Date(at).toISOString()}`,
    severity,
    component: 'agent',
    job,
    instance: instance ?? hostName?.trim() ?? 'this host',
  }
}

const UNIT = 'chain-agent.service'

/**
 * The authorities that the running agent trusts, by NODE_EXTRA_CA_CERTS in its environment; undefined if it has none, or
 * only root can read the environment. Nothing else of it is used.
 */
const authoritiesOf = async (io: Io, { host }: Config): Promise<readonly string[] | undefined> => {
  const { clock, path, signal, exec = createExec({ clock, path }) } = sourceContext(io)
  const args = ['show', '--property=MainPID', '--value', UNIT]
  try {
    const { stdout } = await exec.run({ command: 'systemctl', args }, signal)
    const environment = await createHostSources(host).procfs.read(`${stdout.trim()}/environ`)
    const [, file] = /(?:^|\0)NODE_EXTRA_CA_CERTS=([^\0]+)/.exec(environment ?? '') ?? []
    // Like Node.js, ignores a file that cannot be read.
    const added = file === undefined ? null : await readFile(file, 'utf8').catch(() => null)
    return added === null ? undefined : [...rootCertificates, added]
  } catch (error) {
    if (error instanceof SourceError) return undefined
    throw error
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
  style.paint(
    'strong',
    `Alertmanager ${style.safe(alertmanager)}${version === null ? '' : ` (${style.safe(version)})`}`,
  ),
  ...pairs(
    [
      ...deliveries.map(({ receiver, integration, state, seconds }): readonly [string, string] => [
        `${style.safe(receiver)}: ${style.safe(integration)}`,
        marked(
          state === 'delivered',
          seconds === null
            ? state
            : `handed to ${style.safe(integration)} after ${seconds} s: look for ${code} on your phone`,
          style,
        ),
      ]),
      ...(problem === null ? [] : [['result', marked(false, style.safe(problem), style)] as const]),
    ],
    style,
  ),
]

const marked = (isOk: boolean, text: string, style: Style): string =>
  style.paint(isOk ? 'good' : 'bad', `${style.sign(isOk ? 'good' : 'bad')} ${text}`)
