import { z } from 'zod'
import type { Config } from '../../config/schema.ts'
import { staleAfter } from '../../core/collector.ts'
import type { Maintenance } from '../../core/maintenance.ts'
import { second } from '../../core/units.ts'
import { type MaintenanceFile, createMaintenanceFile } from '../../sources/maintenance-file.ts'
import { askAgent, type AskAgentOptions } from '../shared/ask-agent.ts'

/** The maintenance window of the agent that runs with this configuration. */
export const openAnnouncements = ({ state }: Pick<Config, 'state'>): MaintenanceFile =>
  createMaintenanceFile(state.directory)

/** What the running agent reports of its maintenance window. */
export type Confirmation = 'confirmed' | 'no agent' | 'not reported' | 'interrupted'

interface ConfirmOptions extends AskAgentOptions {
  readonly config: Pick<Config, 'listen' | 'maintenance'>
}

const EVERY_MS = second / 2

/**
 * Asks the running agent until it reports this window (null: none), for as long as its collector may take.
 * Throws a SourceError or a ParseError when another program answers in the agent's place.
 */
export const confirmMaintenance = async (
  expected: Maintenance | null,
  options: ConfirmOptions,
): Promise<Confirmation> => {
  const { config, clock, signal } = options
  const until = expected && new Date(expected.until).toISOString()
  const deadline = clock.elapsed() + confirmationTimeout(config)
  for (;;) {
    const agent = await askAgent(options)
    if (!agent) return 'no agent'
    const collector = agent.collectors.find(({ name }) => name === 'maintenance')
    const { data } = readingSchema.safeParse(collector?.reading)
    if (data?.until === until) return 'confirmed'
    if (clock.elapsed() >= deadline) return 'not reported'
    await clock.sleep(EVERY_MS, signal)
    if (signal.aborted) return 'interrupted'
  }
}

/** Milliseconds within which a running agent has read the window. */
export const confirmationTimeout = ({ maintenance }: Pick<Config, 'maintenance'>): number =>
  staleAfter(maintenance)

const readingSchema = z.object({ until: z.string().nullable() })
