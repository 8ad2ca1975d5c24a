import { createRuntime, type Offered } from '../../agent/runtime.ts'
import { collectorStates, readingsOf, settingsOf } from '../../agent/snapshot.ts'
import { type Io, searchPath } from '../../terminal/io.ts'
import { createProgress } from '../../terminal/progress.ts'
import type { Readings } from '../../collectors/index.ts'
import type { Config } from '../../config/schema.ts'
import type { Board } from '../../core/board.ts'
import { type Clock, linkAbort } from '../../core/clock.ts'
import type { Collector } from '../../core/collector.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { toApiJson } from '../../core/json.ts'
import { createSampleIndex, sample } from '../../core/metric.ts'
import { supervise } from '../../core/supervise.ts'
import { day, second } from '../../core/units.ts'
import { revision, version } from '../../core/package.ts'
import { evaluateOnce } from '../../health/monitor.ts'
import { roleSamples } from '../../health/role.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { parseJournalEntry } from '../../parsers/journal.ts'
import { createReadOnlyCheckpoints } from '../../sources/checkpoint.ts'
import { createCertificates } from '../../sources/certificates.ts'
import { createExec } from '../../sources/exec.ts'
import { createHttpClient } from '../../sources/http.ts'
import { createSnapshotJournal } from '../../sources/journal-range.ts'
import { fetchSnapshot } from './agent-snapshot.ts'

/** Reads from the running agent, or else from the node, which takes seconds. */
export const readSnapshot = async (io: Io, config: Config): Promise<NodeSnapshot> =>
  (await readFromAgent(io, config)) ?? readFromNode(io, config)

/** If another program answers at the address of the agent, prints the error and reads from the node. */
export const readFromAgent = async (io: Io, config: Config): Promise<NodeSnapshot | null> => {
  try {
    return await fetchSnapshot({ config, clock: io.clock, signal: io.signal, ...io.overrides })
  } catch (error) {
    const isOurs = error instanceof SourceError || error instanceof ParseError
    if (!isOurs || io.signal.aborted) throw error
    io.stderr.write(`${error.message}\nReading from the node instead.\n`)
    return null
  }
}

/** Reads from the node once. On a terminal, shows which collectors are still running. */
export const readFromNode = async (io: Io, config: Config): Promise<NodeSnapshot> => {
  const progress = createProgress(io)
  const onWaiting = (names: readonly string[]) =>
    progress.show(`Reading from the node: waiting for ${names.join(', ')}`)
  return collectSnapshot(io, config, onWaiting).finally(progress.end)
}

/**
 * Reads the node once, with the collectors of the agent: first the sources, then the derived ones. Writes nothing and
 * sends nothing. Errors of collectors are in the snapshot, not thrown.
 */
const collectSnapshot = async (
  { clock, env, signal, overrides }: Io,
  config: Config,
  onWaiting: WaitOptions['onWaiting'],
): Promise<NodeSnapshot> => {
  const path = searchPath({ env })
  const certificates = createCertificates(clock)
  const { exec = createExec({ clock, path }), ask = createHttpClient(clock, undefined, certificates) } = overrides ?? {}
  const ending = linkAbort(signal)
  const { board, exposition, offer, prefix } = await createRuntime({
    clock,
    path,
    exec,
    ask,
    checkpoints: createReadOnlyCheckpoints(config.state.directory),
    ownsProcess: false,
    journal: createSnapshotJournal({ exec, parse: parseJournalEntry }),
    complain: () => undefined,
  })
  const offered = offer(config)
  const context = { clock, signal: ending.signal }
  const running: Promise<void>[] = []
  const startedAt = clock.elapsed()
  try {
    for (const role of ['source', 'derived'] as const) {
      const wave = offered.filter((one) => one.enabled && one.role === role)
      running.push(...wave.map(({ collector }) => supervise(withoutStaleness(collector), board, context)))
      await waitForAttempts(wave, { board, clock, signal, onWaiting })
      const left = TWO_READINGS_MS - (clock.elapsed() - startedAt)
      if (role === 'source' && left > 0) await clock.sleep(left, signal)
    }
    for (const { collector, enabled, role } of offered) {
      if (!enabled || role === 'outbound') board.disable(collector)
    }
    const labels = { version, revision, profile: config.profile, node_version: process.versions.node }
    const build = sample('chain_agent_build_info', 1, labels)
    const statuses = [...board.statuses()]
    // A collector that has not finished by now has timed out.
    const late = statuses.filter(({ enabled, up }) => enabled && up === null)
    const samples = [
      ...board.samples(),
      ...late.map(({ name }) => sample('chain_agent_collector_up', 0, { collector: name })),
      ...certificates.samples(null),
    ]
    const known = createSampleIndex([...samples, build])
    const role = roleSamples(config.health.role, known)
    const exposed = await exposition.values([...samples, ...role, build])
    const at = clock.now()
    const readings = readingsOf(statuses)
    return {
      at,
      origin: 'node',
      version,
      prefix: prefix(),
      collectors: collectorStates(statuses).map((one) => ({ ...one, up: one.up ?? (one.enabled ? false : null) })),
      readings,
      ...settingsOf(config),
      known,
      health: evaluateOnce(
        at,
        [...exposed.filter(({ name }) => name !== LINES), ...matchedLines(readings)],
        config.health,
      ),
      export: async () => ({
        metrics: await exposition.render(samples),
        readings: Object.fromEntries(Object.entries(readings).map(([name, reading]) => [name, toApiJson(reading)])),
      }),
    }
  } finally {
    ending.abort()
    exec.killAll()
    await Promise.all(running)
  }
}

/** Readings must not become stale while another collector is still running. */
const withoutStaleness = (collector: Collector<unknown>): Collector<unknown> => ({
  ...collector,
  timing: { ...collector.timing, interval: day },
})

/** Block production needs two readings: collectors with an interval of two seconds must have run twice. */
const TWO_READINGS_MS = 2.6 * second

const LINES = 'chain_log_pattern_total'

/** The patterns of recent log lines. Lines from before a first reading are not counted: here they are what is new. */
const matchedLines = ({ logs }: Readings) =>
  Object.entries(logs?.trouble ?? {}).flatMap(([service, lines]) =>
    lines.map((line) => ({ name: LINES, labels: { service, pattern: line.split(': ')[0] ?? '' }, value: 1 })),
  )

const POLL_INTERVAL_MS = 50
const MAX_WAIT_MS = 20 * second

interface WaitOptions {
  readonly board: Board
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onWaiting: (names: readonly string[]) => void
}

/** Waits until each collector has finished an attempt, or timed out. */
const waitForAttempts = async (
  wave: readonly Offered[],
  { board, clock, signal, onWaiting }: WaitOptions,
): Promise<void> => {
  const names = new Set(wave.map(({ collector }) => collector.name))
  const longest = Math.max(0, ...wave.map(({ collector }) => collector.timing.timeout))
  // In the agent a tool may take a minute; here the operator is waiting.
  const until = clock.elapsed() + Math.min(longest + 2 * second, MAX_WAIT_MS)
  while (!signal.aborted && clock.elapsed() < until) {
    const waiting = [...board.statuses()].filter(({ name, up }) => names.has(name) && up === null)
    if (waiting.length === 0) return
    onWaiting(waiting.map(({ name }) => name))
    await clock.sleep(POLL_INTERVAL_MS, signal)
  }
}
