import { type ServerOptions } from 'node:http'
import { minute, second } from '../../../core/units.ts'

/** Limits per request, and for all requests together. */
export interface QueryLimits {
  /** Size of a request body. */
  readonly bodyBytes: number
  /** Addresses and topics per request, and alternatives in its `logs`. */
  readonly values: number
  readonly filters: number
  /** A page ends with the block in which it reaches one of these limits. */
  readonly pageBytes: number
  readonly pageLogs: number
  readonly pageMs: number
  /** Timeout for making a response, in milliseconds. */
  readonly answerMs: number
  /** Timeout for sending a response, in milliseconds. */
  readonly sendMs: number
  /** Concurrent reads, how many may wait for a slot, and for how long. */
  readonly concurrent: number
  readonly waiting: number
  readonly waitMs: number
  /** Responses that clients have not received yet, in total. */
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

/** Options of the HTTP server: connections of slow clients are closed. */
export const apiServerOptions: ServerOptions = {
  headersTimeout: 10 * second,
  requestTimeout: 15 * second,
  keepAliveTimeout: 65 * second,
  connectionsCheckingInterval: second,
}

export const API_MAX_CONNECTIONS = 256
