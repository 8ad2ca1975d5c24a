/** The answer to a query before it is written, to be altered at will: keys as on the wire. */
export type Answer = Record<string, unknown>

/** What one request meets in the place of a right answer. */
export type Fault =
  /** Any status, headers and body: 401, 413, 429 with its hints, 502 with HTML, a redirect, 200 with garbage. */
  | {
      readonly kind: 'reply'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
    }
  /** The right answer, cut off after so many bytes by a connection that breaks. */
  | { readonly kind: 'cut'; readonly bytes: number }
  /** The right answer, gzipped, its last bytes missing, sent as if it were whole. */
  | { readonly kind: 'short-gzip' }
  /** The connection is closed without a word. */
  | { readonly kind: 'close' }
  /** Nothing is ever said. */
  | { readonly kind: 'hang' }
  /** The right answer after so many milliseconds of real time. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** The right answer, once the test lets it go. */
  | { readonly kind: 'held'; readonly until: Promise<void> }
  /** `next_block` is the `from_block` of the request, and there are no logs. */
  | { readonly kind: 'stall'; readonly archiveHeight?: number }
  /** 400, and the body holds all headers of the request: the key, too. */
  | { readonly kind: 'echo' }
  /** The right answer, changed: a wrong next_block, a log out of range, other words for a number. */
  | { readonly kind: 'alter'; readonly alter: (answer: Answer) => unknown }

/** One request as the server saw it. */
export interface Seen {
  readonly path: '/query' | '/height'
  /** How many of this path came before it: 0 is the first. */
  readonly nth: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Of a query: its first block, and its `to_block` as it was sent. */
  readonly from: number
  readonly to: number | null
  /** The body as it was sent. */
  readonly body: string
  /** Real time, in milliseconds. */
  readonly at: number
}

/** Decides what a request meets; undefined: the right answer. It may change the chain before that. */
export type Faults = (seen: Seen) => Fault | undefined

/** These faults for the first queries, one each, and right answers after that. */
export const inTurn =
  (...faults: readonly (Fault | undefined)[]): Faults =>
  ({ path, nth }) =>
    path === '/query' ? faults[nth] : undefined
