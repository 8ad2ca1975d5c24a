import { type ServerOptions } from 'node:http'
import { minute, second } from '../../../core/units.ts'

/** What one request may cost, and all of them together. */
export interface QueryLimits {
  /** Of the body of a request. */
  readonly bodyBytes: number
  /** Addresses and topics in one request, and alternatives in its `logs`. */
  readonly values: number
  readonly filters: number
  /** A page ends with the block in which it reaches one of these. */
  readonly pageBytes: number
  readonly pageLogs: number
  readonly pageMs: number
  /** An answer that is not there by then is given up. */
  readonly answerMs: number
  /** An answer that has not been taken by then is not sent any further. */
  readonly sendMs: number
  /** Reads at a time, how many may wait for theirs, and how long. */
  readonly concurrent: number
  readonly waiting: number
  readonly waitMs: number
  /** Answers that clients have not taken yet, all together. */
  readonly unsentBytes: number
}

const MiB = 1024 * 1024

export const QUERY_LIMITS: QueryLimits = {
  bodyBytes: MiB,
  values: 10_000,
  filters: 100,
  pageBytes: 4 * MiB,
  pageLogs: 20_000,
  pageMs: 5 * second,
  answerMs: 15 * second,
  sendMs: 2 * minute,
  concurrent: 4,
  waiting: 64,
  waitMs: 5 * second,
  unsentBytes: 128 * MiB,
}

/** For the server that the handler stands in: whoever speaks slowly is not waited for. */
export const apiServerOptions: ServerOptions = {
  headersTimeout: 10 * second,
  requestTimeout: 15 * second,
  keepAliveTimeout: 65 * second,
  connectionsCheckingInterval: second,
}

export const API_MAX_CONNECTIONS = 256
