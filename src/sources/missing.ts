import { codeOf } from '../core/file-errors.ts'

export { codeOf }

/** Whether there is no such thing: no file, no device behind it, no process any more. */
export const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ENODEV', 'ENXIO', 'ESRCH', 'ENODATA'].includes(codeOf(error))
