import { isObject, tryJson } from '../core/json.ts'

/** A line of one of the node's logs, split into its parts. */
export interface LogLine {
  /** `ERROR`, `WARN`, `INFO`, `DEBUG`, `TRACE`; null if the line has no level. */
  readonly level: string | null
  readonly message: string
  readonly fields: Readonly<Record<string, string>>
  /** Module, or file and line; null if the line has neither. */
  readonly from: string | null
}

/** Splits a line into its parts. A line of unknown form becomes the message. Never throws. */
export const parseLogLine = (text: string): LogLine =>
  jsonLine(text) ?? executionLine(text) ?? { level: null, message: text, fields: {}, from: null }

/** `{"timestamp":…,"level":"INFO","fields":{"message":…,…},"target":…}`: the format of consensus and ledger-tail. */
const jsonLine = (text: string): LogLine | undefined => {
  if (!text.startsWith('{')) return undefined
  const raw = tryJson(text)
  if (!isObject(raw) || !isObject(raw['fields'])) return undefined
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

const LEVELS: ReadonlyMap<string, string> = new Map([
  ['CRITICAL', 'ERROR'],
  ['WARNING', 'WARN'],
  ['TRACE_L1', 'TRACE'],
  ['TRACE_L2', 'TRACE'],
  ['TRACE_L3', 'TRACE'],
])

/** `2026-03-01 10:00:00.123456789 [7] runloop.cpp:1 LOG_INFO	…`: the format of execution. */
const executionLine = (text: string): LogLine | undefined => {
  const [, from, word = '', message] =
    /^\d{4}-\d\d-\d\d [\d:.]{8,20} \[\d+\] (\S{1,200}) LOG_(\w{1,12})\s+([^]*)$/.exec(text) ?? []
  if (from === undefined || message === undefined) return undefined
  return { level: LEVELS.get(word) ?? word, message, fields: {}, from }
}

const show = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
