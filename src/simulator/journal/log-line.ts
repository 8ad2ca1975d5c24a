/** A line of the consensus log before it is text: many are never written. */
export interface LogLine {
  readonly atMs: number
  readonly level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'
  /** The module that speaks, behind the maker's word. */
  readonly target: string
  readonly message: string
  /** What is printed by Debug is text; counts are numbers. */
  readonly fields?: Readonly<Record<string, string | number>>
}

export const renderLogLine = (
  prefix: string,
  { atMs, level, target, message, fields }: LogLine,
): string =>
  JSON.stringify({
    timestamp: new Date(atMs).toISOString().replace('Z', '000Z'),
    level,
    fields: { message, ...fields },
    target: `${prefix}_${target}`,
  })

/** How the Debug of a block id looks. */
export const short = (id: string): string => `${id.slice(0, 4)}..${id.slice(-4)}`
