import { setMaxListeners } from 'node:events'
import type { Offered } from '../../collectors/index.ts'
import type { Config } from '../../config/schema.ts'
import type { Board, CollectorStatus } from '../../core/board.ts'
import type { Clock } from '../../core/clock.ts'
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
import { knownFrom } from '../../health/known-from.ts'
import type { Picture, Told } from '../../health/picture.ts'
import { version } from '../../core/version.ts'
import type { StandIns } from './stand-ins.ts'
import { createWatch } from '../../agent/runtime.ts'

interface Options extends StandIns {
  readonly config: Config
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
  /** Hears which collectors have not ended their attempt, now and then. */
  readonly onWaiting?: (names: readonly string[]) => void
}

/**
 * Asks the node itself, as the agent would, once: every collector makes one attempt, first those that
 * read, then those that conclude from it. Nothing is written, nobody outside is told. Never throws for
 * what a collector meets: that stands in the picture.
 */
export const askNode = async (options: Options): Promise<Picture> => {
  const { config, clock, path, signal, onWaiting = () => undefined } = options
  const { exec = createExec({ clock, path }), ask = createHttpClient(clock) } = options
  const ending = new AbortController()
  setMaxListeners(100, ending.signal)
  const end = (): void => {
    ending.abort()
  }
  signal.addEventListener('abort', end, { once: true })
  const { board, exposition, offer, prefix } = createWatch({
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
    for (const role of ['reads', 'concludes'] as const) {
      const wave = offered.filter((one) => one.enabled && one.role === role)
      running.push(...wave.map(({ collector }) => supervise(lasting(collector), board, context)))
      await settled(wave, { board, clock, signal, onWaiting })
      if (role === 'reads') await lookAgain(startedAt, { clock, signal })
    }
    for (const { collector, enabled, role } of offered) {
      if (!enabled || role === 'tells') board.disable(collector)
    }
    const metrics = await exposition.render(board.samples())
    return {
      at: clock.now(),
      origin: 'node',
      version,
      prefix: prefix(),
      collectors: [...board.statuses()].map(toldOf),
      known: knownFrom(parsePrometheusText(metrics).samples),
      metrics,
    }
  } finally {
    signal.removeEventListener('abort', end)
    end()
    exec.killAll()
    await Promise.all(running)
  }
}

/** What was read while another collector was waited for is not stale: all of it is one look. */
const lasting = (collector: Collector<unknown>): Collector<unknown> => ({
  ...collector,
  timing: { ...collector.timing, interval: day },
})

/** Whether blocks come is told by comparing: those who ask every two seconds shall have asked twice. */
const TWO_LOOKS_MS = 2.6 * second

const lookAgain = async (
  startedAt: number,
  { clock, signal }: Pick<Patience, 'clock' | 'signal'>,
): Promise<void> => {
  const left = TWO_LOOKS_MS - (clock.elapsed() - startedAt)
  if (left > 0) await clock.sleep(left, signal)
}

/** Who has not answered by now has not answered in time. */
const toldOf = ({ up, lastSuccessAt, error, reading, ...one }: CollectorStatus): Told => ({
  ...one,
  up: up ?? (one.enabled ? false : null),
  lastSuccessAt: lastSuccessAt ?? null,
  error: error ? redact(error.message) : null,
  reading: redactAll(toApiJson(reading)),
})

const LOOK_EVERY_MS = 50
const LONGEST_MS = 20 * second

interface Patience {
  readonly board: Board
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onWaiting: (names: readonly string[]) => void
}

/** Until each has ended an attempt, or should have. */
const settled = async (wave: readonly Offered[], patience: Patience): Promise<void> => {
  const { board, clock, signal, onWaiting } = patience
  const names = new Set(wave.map(({ collector }) => collector.name))
  const longest = Math.max(0, ...wave.map(({ collector }) => collector.timing.timeout))
  // A tool may take a minute when nobody waits for it; somebody does.
  const until = clock.elapsed() + Math.min(longest + 2 * second, LONGEST_MS)
  while (!signal.aborted && clock.elapsed() < until) {
    const waiting = [...board.statuses()].filter(
      ({ name, up }) => names.has(name) && up === undefined,
    )
    if (waiting.length === 0) return
    onWaiting(waiting.map(({ name }) => name))
    await clock.sleep(LOOK_EVERY_MS, signal)
  }
}
