import type { Config } from '../../config/schema.ts'
import { ifUnreadable } from '../../core/errors.ts'
import { type Maintenance, isActive, type MAINTENANCE_REASONS } from '../../domain/maintenance.ts'
import { hostAndPort } from '../../core/format.ts'
import { renderDuration, second } from '../../core/units.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import type { Io } from '../../terminal/io.ts'
import { createProgress } from '../../terminal/progress.ts'
import { RESTART_MS } from '../../health/restart-window.ts'
import { diagnose, plannedRestart, recoveryLine } from '../../health/diagnosis.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { staleAfter } from '../../core/collector.ts'
import { createMaintenanceFile } from '../../sources/checkpoint.ts'
import { fetchSnapshot } from '../shared/agent-snapshot.ts'

interface StartOptions {
  /** In milliseconds. */
  readonly duration: number
  readonly reason: (typeof MAINTENANCE_REASONS)[number]
  readonly note?: string
}

export const startMaintenance = async (context: ConfiguredContext<StartOptions>): Promise<void> => {
  const { io, exit, options, config } = context
  const announcements = openAnnouncements(config)
  // A file that cannot be parsed is replaced, as the agent's log advises.
  const before = await announcements.read().catch(() => undefined)
  const startedAt = io.clock.now()
  const { duration: span, reason, note = null } = options
  const maintenance = { reason, note, startedAt, until: startedAt + span }
  await announcements.write(maintenance)
  if (before && isActive(before, startedAt)) io.stdout.write(`Replaces: ${describe(before)}\n`)
  io.stdout.write(`Maintenance: ${describe(maintenance)}\n`)
  const { problem, snapshot } = await outcomeOf(io, config, maintenance)
  if (snapshot) {
    const line = restartLine(snapshot, Math.min(span, RESTART_MS))
    if (line !== null) io.stdout.write(`${line}\n`)
  }
  if (problem !== null) {
    io.stderr.write(`The window is written to ${config.state.directory}, but is not in force: ${problem}\n`)
  }
  exit(problem === null ? 0 : 1)
}

/** Whether a planned restart is safe; during a fault the recovery, if there is one. */
const restartLine = (snapshot: NodeSnapshot, span: number): string | null => {
  const diagnosis = diagnose(snapshot)
  const restart = plannedRestart(diagnosis, snapshot, span)
  if (restart) return `A planned restart: ${restart.summary}.`
  const { recovery } = diagnosis
  return recovery.path === 'none' ? null : recoveryLine(recovery)
}

export const endMaintenance = async ({ io, exit, config }: ConfiguredContext<object>): Promise<void> => {
  const hadOne = await openAnnouncements(config).end()
  io.stdout.write(hadOne ? 'Maintenance has ended.\n' : 'No maintenance window was set.\n')
  const { problem } = await outcomeOf(io, config, null)
  if (problem !== null) io.stderr.write(`A window may still be in force: ${problem}\n`)
  exit(problem === null ? 0 : 1)
}

interface Outcome {
  /** Why the running agent does not report the window; null if it does. */
  readonly problem: string | null
  /** The snapshot with which it reports the window. */
  readonly snapshot?: NodeSnapshot
}

const POLL_INTERVAL_MS = second / 2

/** Asks the running agent until it reports this window (null: none), for as long as its collector may take. */
const outcomeOf = async (io: Io, config: Config, expected: Maintenance | null): Promise<Outcome> => {
  const { clock, signal, overrides } = io
  const until = expected && new Date(expected.until).toISOString()
  // By then a running agent has read the window.
  const timeout = staleAfter(config.maintenance)
  const deadline = clock.elapsed() + timeout
  const progress = createProgress(io)
  progress.show('Waiting for the agent to report it')
  try {
    for (;;) {
      const snapshot = await fetchSnapshot({ config, clock, signal, ...overrides })
      // Without an agent no window is in force.
      if (!snapshot) return { problem: expected && noAgent(config) }
      if (snapshot.readings.maintenance?.until === until) return { problem: null, snapshot }
      if (clock.elapsed() >= deadline)
        return {
          problem:
            `the agent at ${hostAndPort(config.listen)} does not report it after ${renderDuration(timeout)}.\n` +
            '  what to do: use the configuration of that agent (`chain-agent config` prints the file in use; ' +
            'state.directory must be the same), and read its log: journalctl -u chain-agent',
        }
      await clock.sleep(POLL_INTERVAL_MS, signal)
      if (signal.aborted) return { problem: 'interrupted before the agent reported it' }
    }
  } catch (error) {
    // Another program answers in the agent's place.
    return ifUnreadable(({ message }) => ({ problem: message }))(error)
  } finally {
    progress.end()
  }
}

/** The sentence of a command that needs the running agent. */
export const noAgent = (config: Config): string =>
  `no agent answers at ${hostAndPort(config.listen)}.\n` +
  '  what to do: start the agent (systemctl start chain-agent), or use its configuration: `listen` must be the same'

export const showMaintenance = async ({ io, exit, options, config }: ConfiguredContext<object>): Promise<void> => {
  const found = await openAnnouncements(config).read()
  const now = found && isActive(found, io.clock.now()) ? found : undefined
  if (options.json) io.stdout.write(`${JSON.stringify(now ? asJson(now) : null)}\n`)
  else io.stdout.write(now ? `Maintenance: ${describe(now)}\n` : 'No maintenance window.\n')
  exit(now ? 0 : 1)
}

const asJson = ({ reason, note, startedAt, until }: Maintenance) => ({
  reason,
  note,
  startedAt: new Date(startedAt).toISOString(),
  until: new Date(until).toISOString(),
})

const describe = (maintenance: Maintenance): string => {
  const { reason, until, note, startedAt } = maintenance
  const end = `${new Date(until).toISOString()} (${renderDuration(until - startedAt)} in all)`
  return `${reason} until ${end}${note === null ? '' : `: ${note}`}`
}

/** The maintenance window of the agent that runs with this configuration. */
export const openAnnouncements = ({ state }: Pick<Config, 'state'>) => createMaintenanceFile(state.directory)
