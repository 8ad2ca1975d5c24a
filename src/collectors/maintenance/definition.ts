import { z } from 'zod'
import { enabled, timed } from '../../core/settings.ts'
import { gauge } from '../../core/metric.ts'
import { MAINTENANCE_REASONS } from '../../domain/maintenance.ts'
import { objectOf, orNull } from '../shared/reading-schema.ts'

export const definition = {
  name: 'maintenance',
  help: 'the maintenance window that the operator has set',
  introduction: 'The maintenance window that the operator has set with `chain-agent maintenance`.',
  settings: timed('5s', '5s', { enabled }),
  reading: objectOf({ reason: orNull.text, until: z.iso.datetime().nullable().catch(null), note: orNull.text }),
  metrics: {
    chain_agent_maintenance: gauge('Whether a maintenance window is active, by reason.', {
      reason: MAINTENANCE_REASONS,
    }),
  },
} as const
