import type { Timing } from '../../core/collector.ts'
import { ParseError, SourceError, summaryOf } from '../../core/errors.ts'
import { asError } from '../../core/outcome.ts'
import type { REFUSALS } from '../rpc/definition.ts'
import { RpcErrorResponse } from '../../parsers/rpc.ts'

/** Why a request brought nothing: a reading in itself, since the agent did ask. */
export type Refusal = (typeof REFUSALS)[number]

export type Reply<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: Refusal; readonly detail: string }

/** For the log: without what a server says in its own words, which may differ at each attempt. */
export const stateOf = (refusal: { readonly reason: Refusal; readonly detail: string }): string =>
  refusal.reason === 'refused' || refusal.reason === 'http'
    ? `${refusal.reason}: ${refusal.detail}`
    : refusal.reason

interface Answer {
  readonly status: number
  readonly text: string
}

/** Asks, and reads the answer; what goes wrong on the other side becomes a reply, what is our own bug is thrown. */
export const request = async <T>(
  asking: Promise<Answer>,
  parse: (text: string) => T,
): Promise<Reply<T>> => {
  try {
    const { status, text } = await asking
    if (status !== 200) return { ok: false, reason: 'http', detail: `HTTP status ${status}` }
    return { ok: true, value: parse(text) }
  } catch (thrown) {
    const error = asError(thrown)
    const detail = summaryOf(error)
    if (error instanceof RpcErrorResponse) return { ok: false, reason: 'jsonrpc', detail }
    if (error instanceof ParseError) return { ok: false, reason: 'invalid', detail }
    if (error instanceof SourceError) {
      return { ok: false, reason: error.timeout ? 'timeout' : 'refused', detail }
    }
    throw error
  }
}

/**
 * The time for each request of a poll that asks in so many rounds, one after the other. A tenth is
 * left to make a reading of what did not come: an endpoint that hangs is a reading, too.
 */
export const requestTimeout = ({ timeout }: Timing, rounds: number): number =>
  Math.floor((timeout * 0.9) / rounds)
