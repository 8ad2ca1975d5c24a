import type { ClientRequest } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { TLSSocket } from 'node:tls'
import { certificateEnd } from '../core/bounds.ts'
import type { Clock } from '../core/clock.ts'
import { type Sample, sample } from '../core/metric.ts'
import { day, hour, minute, second } from '../core/units.ts'

/** More than the endpoints that a configuration has. */
const MAX_ENDPOINTS = 32
/** An endpoint that is not requested any more is no longer in the configuration. */
const FORGET_MS = hour
/** Longer than the limit of the alert. */
const ENDING_MS = 15 * day
const HANDSHAKE_MS = minute

interface Endpoint {
  /** In milliseconds since the epoch. */
  readonly endsAt: number
  /** On the monotonic clock. */
  readonly readAt: number
  requestedAt: number
}

export type Certificates = ReturnType<typeof createCertificates>

/** When the certificates end of the servers that the agent requests, by the connections of these requests. */
export const createCertificates = (clock: Clock) => {
  const endpoints = new Map<string, Endpoint>()
  // A connection that is kept, and a TLS session that is resumed, have the certificate of their first handshake: only
  // this agent sees that the server has a new one.
  const handshakes = new HttpsAgent({ maxCachedSessions: 0 })
  return {
    /** Before a request: the connection that it must use in place of its own, or undefined. */
    agentFor: (url: URL): HttpsAgent | undefined => {
      const known = endpoints.get(nameOf(url))
      if (url.protocol !== 'https:' || !known) return undefined
      known.requestedAt = clock.elapsed()
      const isEnding = known.endsAt - clock.now() < ENDING_MS
      return isEnding && clock.elapsed() - known.readAt >= HANDSHAKE_MS ? handshakes : undefined
    },
    /** After the response. */
    record: (url: URL, { socket, reusedSocket }: Pick<ClientRequest, 'socket' | 'reusedSocket'>): void => {
      if (!(socket instanceof TLSSocket)) return
      const name = nameOf(url)
      const known = endpoints.get(name)
      if (known ? reusedSocket || socket.isSessionReused() : endpoints.size >= MAX_ENDPOINTS) return
      const endsAt = certificateEnd(socket.getPeerX509Certificate())
      if (endsAt === null) return
      endpoints.set(name, { endsAt, readAt: clock.elapsed(), requestedAt: clock.elapsed() })
    },
    /** `listener`: when the agent's own certificate ends, in milliseconds since the epoch; null without TLS. */
    samples: (listener: number | null): readonly Sample[] => {
      for (const [name, { requestedAt }] of endpoints)
        if (clock.elapsed() - requestedAt > FORGET_MS) endpoints.delete(name)
      const all = [...endpoints].map(([name, { endsAt }]): readonly [string, number] => [name, endsAt])
      return [...(listener === null ? [] : [['listener', listener] as const]), ...all].map(([endpoint, endsAt]) =>
        sample('chain_agent_certificate_expiry_timestamp_seconds', endsAt / second, { endpoint }),
      )
    },
  }
}

const nameOf = ({ hostname, port }: URL): string => `${hostname}:${port || '443'}`
