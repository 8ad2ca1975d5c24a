import { own } from '../../domain/node-source.ts'
import type { LogPatternRow } from './pattern.ts'

/** A script without functions. */
const SCRIPT = own('monad-bft/debian/opt/monad/scripts/clear-old-artifacts.sh', 'main')

/** The hourly cleanup. */
export const cleanup: readonly LogPatternRow[] = [
  {
    name: 'cleanup_skipped',
    services: ['cruft'],
    text: 'No new files detected. Skipping',
    sources: SCRIPT,
    severity: 'warning',
    alert: 'ChainCleanup',
    meaning: 'The cleanup deleted nothing, because the ledger had no new file for 20 minutes.',
    advice: 'Find out why the node is stalled. Until it advances again, watch the free space of its file system.',
  },
  {
    name: 'cleanup_completed',
    services: ['cruft'],
    text: 'Cleanup completed successfully',
    sources: SCRIPT,
    severity: 'info',
    alert: 'ChainCleanup',
    meaning: 'The hourly cleanup has deleted old files.',
    advice: 'No action needed. If the line is missing for two hours, check the timer.',
  },
]
