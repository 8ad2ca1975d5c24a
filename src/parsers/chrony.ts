import { ParseError } from '../core/errors.ts'

/** How it stands with the clock of the host. */
export interface ClockState {
  readonly synchronized: boolean
  /** By how many seconds the clock is ahead of the time service; null where it is not kept or not told. */
  readonly aheadSeconds: number | null
}

const FIELDS = 14
/** chronyd follows no source, or serves its own clock (`local stratum`): 127.127.1.1. */
const OWN_CLOCK = ['00000000', '7F7F0101']

/** Parses what `chronyc -c tracking` prints: one line of values. Throws a ParseError. */
export const parseTracking = (text: string): ClockState => {
  const fields = text.trim().split(',')
  const [reference = '', , , , correction = ''] = fields
  const leap = fields.at(-1) ?? ''
  if (
    fields.length !== FIELDS ||
    !/^[0-9A-F]{8}$/.test(reference) ||
    !/^-?\d+\.\d+$/.test(correction)
  ) {
    throw new ParseError('chronyc tracking', `${FIELDS} values with commas between them`, text)
  }
  if (leap === 'Not synchronised' || OWN_CLOCK.includes(reference)) {
    return { synchronized: false, aheadSeconds: null }
  }
  // It is the correction that is told: seen with chrony 4.3, positive is "slow of NTP time".
  return { synchronized: true, aheadSeconds: 0 - Number(correction) }
}
