/** Why a request gets no answer, and what that is in HTTP. */
const STATUS = {
  bad_json: 400,
  unknown_field: 400,
  bad_value: 400,
  too_many: 400,
  /** The service keeps only a part of what is asked for. */
  not_indexed: 400,
  /** The hosted service would have it. */
  not_served: 400,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  pruned: 410,
  too_large: 413,
  media_type: 415,
  rate_limited: 429,
  internal: 500,
  busy: 503,
  empty: 503,
  unavailable: 503,
  too_slow: 503,
} as const

type RefusalCode = keyof typeof STATUS

interface More {
  /** Where in the body it is: `logs[0].topics[1][3]`. */
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  /** With `pruned`: the first block that is held. */
  readonly first?: number
}

/** The request is not answered with data. Its message is for the client: nothing of this host is in it. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly code: RefusalCode
  readonly status: number
  readonly more: More
  constructor(code: RefusalCode, message: string, more: More = {}) {
    super(message)
    this.code = code
    this.status = STATUS[code]
    this.more = more
  }
}

/** The client may come again after so many seconds. */
export const later = (
  code: 'busy' | 'empty' | 'unavailable' | 'too_slow',
  message: string,
  seconds: number,
): Refusal => new Refusal(code, message, { headers: { 'retry-after': String(seconds) } })
