/** What the API tells of itself, for metrics. */
export interface Observed {
  /** An answer has gone out, or the client went (code 499). `path` is one of the two, or "other". */
  answered(answer: {
    readonly path: '/query' | '/height' | 'other'
    readonly code: number
    readonly seconds: number
    /** Of the body as sent. */
    readonly bytes: number
    readonly logs: number
  }): void
}
