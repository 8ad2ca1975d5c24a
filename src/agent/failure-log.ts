/** Logs each failure when it begins, not at every evaluation, and again after it was over. */
export const createFailureLog = (log: (failure: Error | string) => void) => {
  let known: ReadonlySet<string> = new Set()
  return (failures: readonly (Error | string)[]): void => {
    const current = new Map(failures.map((failure) => [String(failure), failure]))
    for (const [text, failure] of current) if (!known.has(text)) log(failure)
    known = new Set(current.keys())
  }
}
