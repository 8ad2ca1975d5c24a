import type { Timing } from '../../core/collector.ts'
import { asError, ParseError, SourceError, summaryOf } from '../../core/errors.ts'
import { stableReason } from '../../core/error-body.ts'
import type { REQUEST_FAILURES } from '../rpc/definition.ts'
import type { HttpResponse } from '../../sources/http.ts'
import { RpcErrorResponse } from '../../parsers/rpc.ts'

/** Why a request failed. A failed request is a reading, not an error of the collector. */
export type RequestFailure = (typeof REQUEST_FAILURES)[number]

interface Failure {
  readonly reason: RequestFailure
  readonly detail: string
}

export type Reply<T> = { readonly ok: true; readonly value: T } | ({ readonly ok: false } & Failure)

/** The state of a failed request. Equal for repetitions, because its changes are logged. */
export const failureState = ({ reason, detail }: Failure): string =>
  reason === 'timeout' ? reason : `${reason}: ${detail}`

export const valueOf = <T>(reply: Reply<T> | null): T | null => (reply?.ok ? reply.value : null)

/** The status of a response and the reason that its body has, in a form that is equal for repetitions. */
export const describeStatus = ({ status, text }: Response): string => {
  const reported = stableReason(text)
  return `HTTP status ${status}${reported === '' ? '' : ` (${reported})`}`
}

type Response = Pick<HttpResponse, 'status' | 'text'>

/** Parses the response. A failure of the other side becomes a reply; other errors are thrown. */
export const request = async <T>(response: Promise<Response>, parse: (text: string) => T): Promise<Reply<T>> => {
  try {
    const received = await response
    if (received.status !== 200) return { ok: false, reason: 'http', detail: describeStatus(received) }
    return { ok: true, value: parse(received.text) }
  } catch (thrown) {
    const error = asError(thrown)
    const detail = summaryOf(error)
    if (error instanceof RpcErrorResponse) return { ok: false, reason: 'jsonrpc', detail: stableReason(error.reported) }
    if (error instanceof ParseError) return { ok: false, reason: 'invalid', detail }
    if (error instanceof SourceError) return { ok: false, reason: error.timeout ? 'timeout' : 'refused', detail }
    throw error
  }
}

/**
 * The timeout of each request of a poll with N sequential rounds of requests, in milliseconds. A tenth of the time of
 * the poll remains for a reading about an endpoint that hangs.
 */
export const requestTimeout = ({ timeout }: Timing, rounds: number): number => Math.floor((timeout * 0.9) / rounds)
