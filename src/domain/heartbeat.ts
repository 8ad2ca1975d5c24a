import type { HealthState } from './health.ts'
import type { MaintenanceReason } from './maintenance.ts'

/** The document that an agent posts as its heartbeat. A value that is unknown is null. */
export interface Heartbeat {
  /** RFC 3339, by the clock of the sender. */
  readonly at: string
  readonly health: HealthState
  /** The sentences of the diagnosis, the first cause first. */
  readonly causes: readonly string[]
  readonly maintenance: MaintenanceReason | null
  readonly height: number | null
  /** RFC 3339. */
  readonly blockTime: string | null
  readonly blockDifference: number | null
}

/** The last heartbeat of the watched node, and when it was received. */
export interface ReceivedHeartbeat {
  /** Milliseconds since the epoch, by the clock of this host then. */
  readonly at: number
  /** Milliseconds on the monotonic clock. */
  readonly elapsed: number
  readonly heartbeat: Heartbeat
}

export type HeartbeatInbox = ReturnType<typeof createHeartbeatInbox>

/** Where the listener puts heartbeats, and the collector finds them. */
export const createHeartbeatInbox = () => {
  let current: ReceivedHeartbeat | null = null
  let expected = false
  return {
    /** Whether heartbeats are expected: the collector runs. */
    isOpen: () => expected,
    open: (): void => {
      expected = true
    },
    /** Forgets the last one: it may be of another node than the next. */
    close: (): void => {
      expected = false
      current = null
    },
    latest: () => current,
    put: (received: ReceivedHeartbeat): void => {
      current = received
    },
  }
}
