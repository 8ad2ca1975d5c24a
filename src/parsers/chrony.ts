import { ParseError } from '../core/errors.ts'
import { minute, second } from '../core/units.ts'

/** How it stands with the clock of the host. */
export interface ClockState {
  readonly synchronized: boolean
  /** By how many seconds the clock is ahead of the time service; null where it is not kept or not told. */
  readonly aheadSeconds: number | null
  /** The time service says that all is well, and has had no answer for a long time. */
  readonly isForsaken?: true
}

const FIELDS = 14
/** chronyd follows no source, or serves its own clock (`local stratum`): 127.127.1.1. */
const OWN_CLOCK = ['00000000', '7F7F0101']

/** Ten answers missing, and at least so long: by default chrony asks every 1 to 17 minutes. */
const PATIENCE = { atLeast: 180 * minute, intervals: 10 }

/**
 * Parses what `chronyc -c tracking` prints: one line of values. Throws a ParseError. With `now`, in
 * milliseconds since the epoch, it tells whether chrony still hears its servers: without any of them it
 * goes on for days with the same offset and `Normal`, and only the reference time does not change.
 */
export const parseTracking = (text: string, now: number | null = null): ClockState => {
  const fields = text.trim().split(',')
  const [reference = '', , , referenceTime = '', correction = ''] = fields
  const updateInterval = fields.at(-2) ?? ''
  const leap = fields.at(-1) ?? ''
  if (
    fields.length !== FIELDS ||
    !/^[0-9A-F]{8}$/.test(reference) ||
    !/^\d+\.\d+$/.test(referenceTime) ||
    !/^-?\d+\.\d+$/.test(correction) ||
    !/^\d+\.\d+$/.test(updateInterval)
  ) {
    throw new ParseError('chronyc tracking', `${FIELDS} values with commas between them`, text)
  }
  if (leap === 'Not synchronised' || OWN_CLOCK.includes(reference)) {
    return { synchronized: false, aheadSeconds: null }
  }
  const usual = PATIENCE.intervals * Number(updateInterval) * second
  const silence = now === null ? 0 : now - Number(referenceTime) * second
  if (silence > Math.max(PATIENCE.atLeast, usual)) {
    return { synchronized: false, aheadSeconds: null, isForsaken: true }
  }
  // It is the correction that is told: seen with chrony 4.3, positive is "slow of NTP time".
  return { synchronized: true, aheadSeconds: 0 - Number(correction) }
}
