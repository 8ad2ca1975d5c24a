import type { Entry } from './journal.ts'

/** How an entry is printed with `-o`; undefined for a form that is not offered. */
export const renderEntry = (
  output: string,
  fields: readonly string[] | undefined,
  bootId: string,
): ((entry: Entry) => string) | undefined => {
  if (output === 'json') return renderJson(fields, bootId)
  if (output === 'cat') return (entry) => entry.fields['MESSAGE'] ?? ''
  return output === 'short' ? renderShort : undefined
}

const renderJson = (asked: readonly string[] | undefined, bootId: string) => {
  const wanted = asked && new Set(asked)
  return ({ cursor, realtimeUs, monotonicUs, fields }: Entry): string => {
    const shown: Record<string, string> = {
      // These four come unasked.
      __CURSOR: cursor,
      __REALTIME_TIMESTAMP: String(realtimeUs),
      __MONOTONIC_TIMESTAMP: String(monotonicUs),
      _BOOT_ID: bootId,
    }
    for (const [name, value] of Object.entries(fields)) {
      if (!wanted || wanted.has(name)) shown[name] = value
    }
    return JSON.stringify(shown)
  }
}

/** `Mar 02 08:15:30 simulated systemd[1]: …` */
const renderShort = ({ realtimeUs, fields }: Entry): string => {
  const at = new Date(realtimeUs / 1000)
  const month = MONTHS[at.getUTCMonth()]
  const day = String(at.getUTCDate()).padStart(2, '0')
  const { SYSLOG_IDENTIFIER: name, _PID: pid, MESSAGE: message } = fields
  return `${month} ${day} ${at.toISOString().slice(11, 19)} simulated ${name}[${pid}]: ${message}`
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
