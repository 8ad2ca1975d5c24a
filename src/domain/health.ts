/** `unknown`: no node or no block of it is known, or no evaluation succeeded. Most severe first. */
export const HEALTH_STATES = ['critical', 'unknown', 'warning', 'maintenance', 'healthy'] as const
export type HealthState = (typeof HEALTH_STATES)[number]

export const FINDING_SEVERITIES = ['critical', 'warning', 'info'] as const
export type FindingSeverity = (typeof FINDING_SEVERITIES)[number]

/** `pending` until the condition has held for the duration of the rule. */
export type AlertState = 'pending' | 'firing'

/** An alert as Prometheus has it, and sends it to Alertmanager while it fires. */
export interface TargetAlert {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** When it began to fire, or will, in milliseconds since the epoch. */
  readonly startsAt: number
}

/** The labels that the scrape of this agent adds, and where the links in its alerts lead. */
export interface AlertTarget {
  readonly job: string
  /** Null: the name of the host. */
  readonly instance: string | null
  readonly labels: Readonly<Record<string, string>>
  readonly runbooks: string | null
  readonly dashboards: string | null
}

/** The recovery that a node needs, in one step. */
export interface RecoveryAction {
  /** An imperative without its full stop: `Restart the services together, now`. */
  readonly action: string
  /** Until when it is enough, in milliseconds since the epoch; null if no time is running out. */
  readonly deadline: number | null
}

/** The health of the node for the receiver of the heartbeat. */
export interface HealthSummary {
  readonly state: HealthState
  /** The causes of the diagnosis that are warnings or worse, each a sentence without its full stop, the first one first. */
  readonly causes: readonly string[]
}

/** The severity or emphasis of a text. */
export const TONES = ['good', 'notice', 'bad', 'unknown', 'quiet', 'strong'] as const
export type Tone = (typeof TONES)[number]

/** The state of a node in one word. */
export type HealthStatus = 'OK' | 'WARNING' | 'CRITICAL' | 'UNKNOWN' | 'MAINTENANCE'

export const STATUS_TONES: Readonly<Record<HealthStatus, Tone>> = {
  OK: 'good',
  MAINTENANCE: 'notice',
  WARNING: 'notice',
  CRITICAL: 'bad',
  UNKNOWN: 'unknown',
}
export const SEVERITY_TONES = {
  critical: 'bad',
  unknown: 'unknown',
  warning: 'notice',
  info: 'quiet',
  none: 'quiet',
} as const
