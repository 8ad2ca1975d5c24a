const STAMP = /^[A-Z][a-z]{2} (\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(\.\d{1,6})? UTC$/

/**
 * A time as systemd prints it, in milliseconds since the epoch: `Wed 2026-09-09 10:41:07.123456 UTC`
 * or `@1788231600`. Null for "never" (empty, `n/a`, 0) and for other zones: their abbreviations are
 * ambiguous, which is why systemctl is run with TZ=UTC.
 */
export const parseSystemdTime = (text: string): number | null => {
  const [, epoch] = /^@(\d{1,11}(?:\.\d{1,6})?)$/.exec(text) ?? []
  const [, date, time, fraction = ''] = STAMP.exec(text) ?? []
  const milliseconds =
    epoch === undefined
      ? Date.parse(`${date}T${time}${fraction.slice(0, 4)}Z`)
      : Number(epoch) * 1000
  return Number.isFinite(milliseconds) && milliseconds > 0 ? milliseconds : null
}
