/** It was asked for in a wrong way, which only shows once something else is known. Exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}
