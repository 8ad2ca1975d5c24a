import type { ServerOptions } from 'node:http'
import { minute, second } from '../../../src/core/units.ts'

const MiB = 1024 * 1024

/** Limits per request, and for all requests together. Times are in milliseconds. */
export const QUERY_LIMITS = {
  /** A request body: its size, and what its JSON has before it is parsed. */
  bodyBytes: MiB,
  /** Larger bodies are read a few at a time. */
  smallBodyBytes: 64 * 1024,
  largeBodies: { concurrent: 4, waiting: 256, waitMs: 15 * second },
  bodyDepth: 16,
  bodyValues: 20_000,
  /** Addresses and topics per request, and alternatives in its `logs`. */
  values: 10_000,
  filters: 100,
  /** A page ends with the block in which it reaches one of these limits. */
  pageBytes: 4 * MiB,
  pageLogs: 20_000,
  pageMs: 5 * second,
  /** Timeouts for making and for sending a response. */
  answerMs: 15 * second,
  sendMs: 2 * minute,
  /** Concurrent reads, how many may wait for a slot, and for how long. */
  concurrent: 4,
  waiting: 64,
  waitMs: 5 * second,
  /** Streams of heights, and requests that wait for a block: in total, and of one client. */
  streams: { total: 256, perClient: 64 },
  held: { total: 256, perClient: 32 },
  /** How long a request waits for a block. Clients wait for 30 s, and read an empty page again at once. */
  holdMs: 10 * second,
  /** Responses that clients have not received yet, in total. */
  unsentBytes: 128 * MiB,
}

export type QueryLimits = Readonly<typeof QUERY_LIMITS>

/** Options of the HTTP server: connections of slow clients are closed. */
export const apiServerOptions: ServerOptions = {
  headersTimeout: 10 * second,
  requestTimeout: 15 * second,
  keepAliveTimeout: 65 * second,
  connectionsCheckingInterval: second,
}

export const API_MAX_CONNECTIONS = 256
