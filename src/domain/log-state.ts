/** What became of a line of a stream or report that the agent read. */
export const LINE_RESULTS = ['parsed', 'ignored', 'unparsed'] as const

export const LOG_STATES = ['read', 'no entries', 'other output'] as const

/**
 * `read`: the journal has an entry that the service has written since its start. `no entries`: it has none, although the
 * service has run for minutes. `other output`: it has none, and systemd does not send its output to the journal.
 */
export type LogState = (typeof LOG_STATES)[number]

/** Services that print lines for every block: without an entry their log is not read. Others may have nothing to print. */
const PRINTS_ALWAYS = ['bft', 'execution', 'ledger-tail']

/** Whether it is known that nothing can be read from the log of the service. */
export const isUnreadable = (service: string, state: LogState | null | undefined): boolean =>
  state === 'other output' || (state === 'no entries' && PRINTS_ALWAYS.includes(service))

/** Service → state of its log; absent if no entry was found and it does not run, or if it was not examined. */
export type LogStates = ReadonlyMap<string, LogState>

/** Why nothing is known from a log; undefined if it was read. */
export const whyNotRead = (state: LogState | null | undefined): string | undefined => {
  if (state === 'read') return undefined
  if (state === 'no entries') return 'the journal has no entry of it since its start'
  if (state === 'other output') return 'systemd does not send its output to the journal'
  return 'no entry of it was found, or its log was not examined yet'
}
