/** A line of one of the node's logs, in the parts that a reader looks for. */
export interface LogLine {
  /** `ERROR`, `WARN`, `INFO`, `DEBUG`, `TRACE`; null where the line does not say. */
  readonly level: string | null
  readonly message: string
  readonly fields: Readonly<Record<string, string>>
  /** Module, or file and line; null where the line does not say. */
  readonly from: string | null
}

/** Takes a line apart. What is of no known form is its own message; it never throws. */
export const parseLogLine = (text: string): LogLine =>
  jsonLine(text) ?? executionLine(text) ?? { level: null, message: text, fields: {}, from: null }

/** `{"timestamp":…,"level":"INFO","fields":{"message":…,…},"target":…}`, as consensus and ledger-tail write. */
const jsonLine = (text: string): LogLine | undefined => {
  if (!text.startsWith('{')) return undefined
  const raw = tryJson(text)
  if (!isRecord(raw) || !isRecord(raw['fields'])) return undefined
  const { message, ...fields } = raw['fields']
  const { level, target } = raw
  if (typeof message !== 'string') return undefined
  return {
    level: typeof level === 'string' ? level : null,
    message,
    fields: Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, show(value)])),
    from: typeof target === 'string' ? target : null,
  }
}

const LEVELS: Readonly<Record<string, string>> = {
  CRITICAL: 'ERROR',
  WARNING: 'WARN',
  TRACE_L1: 'TRACE',
  TRACE_L2: 'TRACE',
  TRACE_L3: 'TRACE',
}

/** `2026-03-01 10:00:00.123456789 [7] runloop.cpp:1 LOG_INFO	…`, as execution writes. */
const executionLine = (text: string): LogLine | undefined => {
  const [, from, word = '', message] =
    /^\d{4}-\d\d-\d\d [\d:.]{8,20} \[\d+\] (\S{1,200}) LOG_(\w{1,12})\s+([^]*)$/.exec(text) ?? []
  if (from === undefined || message === undefined) return undefined
  return { level: LEVELS[word] ?? word, message, fields: {}, from }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const show = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '')

const tryJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
