import { ParseError } from '../core/errors.ts'

/** What `timedatectl show --property=NTPSynchronized` prints. */
export const parseNtpSynchronized = (text: string): boolean => {
  const [, word] = /^NTPSynchronized=(yes|no)$/m.exec(text) ?? []
  if (word === undefined)
    throw new ParseError('timedatectl show', 'NTPSynchronized=yes or no', text)
  return word === 'yes'
}

/**
 * The offset that `timedatectl timesync-status` prints, as seconds that the clock is ahead; null while
 * systemd-timesyncd has heard no server. It tells what is to be added: "+" is a clock that is behind.
 */
export const parseTimesyncOffset = (text: string): number | null => {
  const [, told] = /^\s*Offset: (.+)$/m.exec(text) ?? []
  if (told === undefined) {
    if (/^\s*Packet count: /m.test(text)) return null
    throw new ParseError('timedatectl timesync-status', 'a line of Offset or Packet count', text)
  }
  if (told.trim() === 'n/a') return null
  const [, sign, span = ''] = /^([+-])(.+)$/.exec(told.trim()) ?? []
  const seconds = secondsOf(span)
  if (sign === undefined || seconds === null) {
    throw new ParseError('timedatectl timesync-status', 'an offset such as +1.25ms', told)
  }
  return sign === '+' ? 0 - seconds : seconds
}

const UNITS: Readonly<Record<string, number>> = {
  us: 1e-6,
  ms: 1e-3,
  s: 1,
  min: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
  month: 2_629_800,
  y: 31_557_600,
}

/** `1min 2.5s`, as systemd writes spans of time. */
const secondsOf = (span: string): number | null => {
  let total = 0
  for (const word of span.split(' ')) {
    const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([a-z]+)$/.exec(word) ?? []
    const factor = UNITS[unit.replace(/^months$/, 'month')]
    if (amount === undefined || factor === undefined) return word === '0' && total === 0 ? 0 : null
    total += Number(amount) * factor
  }
  return total
}
