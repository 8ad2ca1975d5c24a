import { setMaxListeners } from 'node:events'
import type { Offered } from '../../agent/collectors.ts'
import type { Config } from '../../config/schema.ts'
import type { Board, CollectorStatus as BoardStatus } from '../../core/board.ts'
import { type Clock, linkAbort } from '../../core/clock.ts'
import type { Collector } from '../../core/collector.ts'
import { toApiJson } from '../../core/json.ts'
import { redact, redactAll } from '../../core/redact.ts'
import { supervise } from '../../core/supervise.ts'
import { day, second } from '../../core/units.ts'
import { parseJournalEntry } from '../../parsers/journal.ts'
import { parsePrometheusText } from '../../parsers/prometheus-text.ts'
import { createExec } from '../../sources/exec.ts'
import { createHttpClient } from '../../sources/http.ts'
import { createSnapshotJournal } from '../../sources/journal-range.ts'
import { createReadOnlyCheckpoints } from '../../sources/checkpoint.ts'
import { type CollectorStatus, indexSamples, type NodeSnapshot } from '../../health/snapshot.ts'
import { version } from '../../core/version.ts'
import type { SourceOverrides } from '../../cli/io.ts'
import { createRuntime } from '../../agent/runtime.ts'

interface Options extends SourceOverrides {
  readonly config: Config
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
  /** Receives the names of the collectors that have not finished, periodically. */
  readonly onWaiting?: (names: readonly string[]) => void
}

/**
 * Reads the node once, with the collectors of the agent: first the sources, then the derived ones. Writes nothing and
 * sends nothing. Errors of collectors are in the snapshot, not thrown.
 */
export const collectSnapshot = async (options: Options): Promise<NodeSnapshot> => {
  const { config, clock, path, signal, onWaiting = () => undefined } = options
  const { exec = createExec({ clock, path }), ask = createHttpClient(clock) } = options
  const linked = linkAbort(signal)
  setMaxListeners(100, linked.signal)
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
  const context = { clock, signal: linked.signal }
  const running: Promise<void>[] = []
  const startedAt = clock.elapsed()
  try {
    for (const role of ['source', 'derived'] as const) {
      const wave = offered.filter((one) => one.enabled && one.role === role)
      running.push(...wave.map(({ collector }) => supervise(withoutStaleness(collector), board, context)))
      await waitForAttempts(wave, { board, clock, signal, onWaiting })
      if (role === 'source') await waitForSecondReading(startedAt, { clock, signal })
    }
    for (const { collector, enabled, role } of offered) {
      if (!enabled || role === 'outbound') board.disable(collector)
    }
    const metrics = await exposition.render(board.samples())
    return {
      at: clock.now(),
      origin: 'node',
      version,
      prefix: prefix(),
      collectors: [...board.statuses()].map(collectorStatus),
      known: indexSamples(parsePrometheusText(metrics).samples),
      metrics,
    }
  } finally {
    linked.abort()
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

const waitForSecondReading = async (
  startedAt: number,
  { clock, signal }: Pick<WaitOptions, 'clock' | 'signal'>,
): Promise<void> => {
  const left = TWO_READINGS_MS - (clock.elapsed() - startedAt)
  if (left > 0) await clock.sleep(left, signal)
}

/** A collector that has not finished by now has timed out. */
const collectorStatus = ({ up, lastSuccessAt, error, reading, ...one }: BoardStatus): CollectorStatus => ({
  ...one,
  up: up ?? (one.enabled ? false : null),
  lastSuccessAt: lastSuccessAt ?? null,
  error: error ? redact(error.message) : null,
  reading: redactAll(toApiJson(reading)),
})

const POLL_INTERVAL_MS = 50
const MAX_WAIT_MS = 20 * second

interface WaitOptions {
  readonly board: Board
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onWaiting: (names: readonly string[]) => void
}

/** Waits until each collector has finished an attempt, or timed out. */
const waitForAttempts = async (wave: readonly Offered[], patience: WaitOptions): Promise<void> => {
  const { board, clock, signal, onWaiting } = patience
  const names = new Set(wave.map(({ collector }) => collector.name))
  const longest = Math.max(0, ...wave.map(({ collector }) => collector.timing.timeout))
  // In the agent a tool may take a minute; here the operator is waiting.
  const until = clock.elapsed() + Math.min(longest + 2 * second, MAX_WAIT_MS)
  while (!signal.aborted && clock.elapsed() < until) {
    const waiting = [...board.statuses()].filter(({ name, up }) => names.has(name) && up === undefined)
    if (waiting.length === 0) return
    onWaiting(waiting.map(({ name }) => name))
    await clock.sleep(POLL_INTERVAL_MS, signal)
  }
}
