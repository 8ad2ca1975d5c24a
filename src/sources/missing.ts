/** The name of an error of the system: `EACCES`. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'it failed'

/** Whether there is no such thing: no file, no device behind it, no process any more. */
export const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ENODEV', 'ENXIO', 'ESRCH', 'ENODATA'].includes(codeOf(error))
