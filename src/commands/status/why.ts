import type { CollectorStatus } from '../../health/snapshot.ts'
import { oneLine } from './texts.ts'

/** Why a collector has told nothing, or nothing new, in one line; null where it has. */
export const whyUnknown = (told: CollectorStatus | undefined): string | null => {
  if (told === undefined) return 'this agent knows no such collector'
  const { enabled, up, error, reading } = told
  if (!enabled) return 'turned off by the configuration, or has nothing to look at'
  if (error !== null) {
    const isOld = reading !== null && reading !== undefined
    return isOld ? `${oneLine(error)} (shown is what came before)` : oneLine(error)
  }
  if (up === null) return 'no attempt has ended yet'
  return up ? null : 'silent: no reading in the time one is due'
}
