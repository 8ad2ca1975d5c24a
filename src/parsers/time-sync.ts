import { ParseError } from '../core/errors.ts'
import { pastTime, withinBounds } from '../core/bounds.ts'
import { minute, parseTimeSpan, second } from '../core/units.ts'
import { type UnknownValue, unknownValue } from '../core/unknown-values.ts'

/** The state of the host's clock synchronization. */
export interface ClockState {
  /** Null if unknown. */
  readonly synchronized: boolean | null
  /**
   * Seconds that the clock is ahead of the time source; null if it is not synchronized or the offset is not reported.
   */
  readonly aheadSeconds: number | null
  /** The leap status of chrony, if it is not a known one. */
  readonly unknownValues?: readonly UnknownValue[]
  /** The time service reports a normal state, but has had no response from its servers for a long time. */
  readonly isSourceLost?: true
}

const FIELDS = 14
/** chronyd has no source, or serves its own clock (`local stratum`): 127.127.1.1. */
const OWN_CLOCK = ['00000000', '7F7F0101']

const SYNCHRONIZED = ['Normal', 'Insert second', 'Delete second']
const NOT_SYNCHRONIZED = 'Not synchronised'

/** Ten missing responses, and at least 3 minutes: by default chrony polls every 1 to 17 minutes. */
const MAX_SILENCE = { atLeast: 180 * minute, intervals: 10 }

/**
 * Parses the output of `chronyc -c tracking`: one line of values. Throws a ParseError. With `now`, in milliseconds
 * since the epoch, it also checks whether chrony still receives responses: without any server chrony reports the same
 * offset and `Normal` for days, and only the reference time stays unchanged.
 */
export const parseTracking = (text: string, now: number | null = null): ClockState => {
  const fields = text.trim().split(',')
  const [reference = '', , , referenceTime = '', correction = ''] = fields
  const updateInterval = fields.at(-2) ?? ''
  const leap = fields.at(-1) ?? ''
  if (
    fields.length !== FIELDS ||
    !/^[0-9A-F]{8}$/.test(reference) ||
    !/^\d{1,12}\.\d{1,9}$/.test(referenceTime) ||
    !/^-?\d{1,12}\.\d{1,9}$/.test(correction) ||
    !/^\d{1,12}\.\d{1,9}$/.test(updateInterval)
  ) {
    throw new ParseError('chronyc tracking', `${FIELDS} values with commas between them`, text)
  }
  const unknownValues = unknownValue('leap status of chrony', leap, [...SYNCHRONIZED, NOT_SYNCHRONIZED])
  if (unknownValues.length > 0) return { synchronized: null, aheadSeconds: null, unknownValues }
  if (leap === NOT_SYNCHRONIZED || OWN_CLOCK.includes(reference)) {
    return { synchronized: false, aheadSeconds: null }
  }
  const usual = MAX_SILENCE.intervals * Number(updateInterval) * second
  const silence = now === null ? 0 : now - Number(referenceTime) * second
  if (silence > Math.max(MAX_SILENCE.atLeast, usual)) {
    return { synchronized: false, aheadSeconds: null, isSourceLost: true }
  }
  // chrony prints the correction: in chrony 4.3, positive means "slow of NTP time".
  const aheadSeconds = withinBounds('clockOffset', 0 - Number(correction))
  // After the clock was set back, chrony has not compared it yet.
  const isCompared = now === null || pastTime(Number(referenceTime) * second, now) !== null
  return { synchronized: true, aheadSeconds: isCompared ? aheadSeconds : null }
}

/** Parses the output of `timedatectl show --property=NTPSynchronized`. Throws a ParseError. */
export const parseNtpSynchronized = (text: string): boolean => {
  const [, word] = /^NTPSynchronized=(yes|no)$/m.exec(text) ?? []
  if (word === undefined) throw new ParseError('timedatectl show', 'NTPSynchronized=yes or no', text)
  return word === 'yes'
}

/**
 * The offset in the output of `timedatectl timesync-status`, as seconds that the clock is ahead; null while
 * systemd-timesyncd has had no response. systemd prints the correction: "+" is a clock that is behind. Throws a
 * ParseError.
 */
export const parseTimesyncOffset = (text: string): number | null => {
  const [, offset] = /^[ \t]*Offset: (.{1,100})$/m.exec(text) ?? []
  if (offset === undefined) {
    if (/^[ \t]*Packet count: /m.test(text)) return null
    throw new ParseError('timedatectl timesync-status', 'a line of Offset or Packet count', text)
  }
  if (offset.trim() === 'n/a') return null
  const [, sign, span = ''] = /^([+-])(.+)$/.exec(offset.trim()) ?? []
  const seconds = span === '0' ? 0 : parseTimeSpan(span)
  if (sign === undefined || seconds === undefined) {
    throw new ParseError('timedatectl timesync-status', 'an offset such as +1.25ms', offset)
  }
  return withinBounds('clockOffset', sign === '+' ? 0 - seconds : seconds)
}
