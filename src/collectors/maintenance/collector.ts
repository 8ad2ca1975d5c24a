import { type Collector, metadataOf, poll } from '../../core/collector.ts'
import type { Context } from '../../core/clock.ts'
import { SourceError } from '../../core/errors.ts'
import { MAINTENANCE_REASONS, readMaintenance, isActive } from '../../domain/maintenance.ts'
import { sample } from '../../core/metric.ts'
import type { ReadingOf, Uses } from '../dependencies.ts'
import { definition } from './definition.ts'

/** The note of the operator is exported by the API only, not as a label. */
type Reading = ReadingOf<typeof definition>

const NONE: Reading = { reason: null, until: null, note: null }

/** The maintenance window that the operator has set. It ends by itself, and survives a restart of the agent. */
export const maintenance = ({ checkpoint, timing }: Uses<'checkpoint'>): Collector<Reading> => ({
  ...metadataOf(definition, timing),
  run: poll(timing, async ({ clock }: Context) => {
    const found = await checkpoint.read()
    if (found.state === 'none') return NONE
    const window = readMaintenance(found.value)
    if (!window) throw unreadable()
    const { reason, until, note } = window
    return !isActive(window, clock.now()) ? NONE : { reason, until: new Date(until).toISOString(), note }
  }),
  samples: ({ reason: active }) =>
    MAINTENANCE_REASONS.map((reason) => sample('chain_agent_maintenance', reason === active, { reason })),
  states: ({ reason, until }) => ({ maintenance: reason === null ? 'none' : `${reason}, until ${until}` }),
})

const unreadable = (): SourceError =>
  new SourceError({
    doing: 'read the maintenance window',
    happened: 'the file cannot be read, or was not written by chain-agent',
    advice: 'set the window again, or run `sudo chain-agent maintenance end`',
  })
