const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** As systemd counts and writes them; `m` is of the report's own uptime. */
const SECONDS = new Map([
  ['us', 1e-6],
  ['μs', 1e-6],
  ['ms', 1e-3],
  ['s', 1],
  ['m', MINUTE],
  ['min', MINUTE],
  ['h', HOUR],
  ['d', DAY],
  ['day', DAY],
  ['days', DAY],
  ['w', 7 * DAY],
  ['week', 7 * DAY],
  ['weeks', 7 * DAY],
  ['month', 30.4375 * DAY],
  ['months', 30.4375 * DAY],
  ['y', 365.25 * DAY],
  ['year', 365.25 * DAY],
  ['years', 365.25 * DAY],
])

/** `1h 3min`, `2 days`, `0d 00h 41m 49s` in seconds; negative with `ago` behind it; null for anything else. */
export const parseSpan = (text: string): number | null => {
  const ago = text.endsWith(' ago')
  const words = text.replace(/ (?:ago|left)$/, '')
  if (words.length > 64 || !/^(?:\d+(?:\.\d+)? ?[a-zμ]+(?: |$))+$/.test(words)) return null
  let total = 0
  for (const [, amount, unit = ''] of words.matchAll(/(\d+(?:\.\d+)?) ?([a-zμ]+)/g)) {
    const seconds = SECONDS.get(unit)
    if (seconds === undefined) return null
    total += Number(amount) * seconds
  }
  return ago ? -total : total
}

/** `16.24%` as 0.1624; null for anything else. */
export const parseRatio = (text: string): number | null =>
  /^\d{1,3}(?:\.\d{1,9})?%$/.test(text) ? Number(`${text.slice(0, -1)}e-2`) : null
