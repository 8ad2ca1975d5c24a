import type { Readings } from '../collectors/index.ts'
import type { CollectorStatus } from '../core/board.ts'
import type { EpochLengths } from '../domain/epoch.ts'
import type { Health } from '../parsers/agent-status.ts'
import type { SampleIndex } from '../core/metric.ts'

/** The state of one collector, as reported by the running agent or by a single round of collectors. */
export type CollectorState = Omit<CollectorStatus, 'reading'> & { readonly hasReading: boolean }

/** All that is known of a node at one time. */
export interface NodeSnapshot {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Where it comes from: the agent that runs on this host, or one round of collectors. */
  readonly origin: 'agent' | 'node'
  /** Version of the agent that produced it. */
  readonly version: string
  /** The name prefix of units and tools; null until it is known. */
  readonly prefix: string | null
  readonly collectors: readonly CollectorState[]
  readonly readings: Readings
  readonly known: SampleIndex
  /** The lengths of the epochs of each chain, by the configuration. */
  readonly epochs: EpochLengths
  /** The devices of the database, by the configuration. */
  readonly devices: readonly string[]
  /** The receivers of alerts, by the configuration: host and port of each Alertmanager. */
  readonly outbound: { readonly alertmanagers: readonly string[] }
  /** The health by the rules, which the agent evaluates over time, and a command once. */
  readonly health: Health
  /** The text of /metrics, and the reading of every collector as in /api/v1/status. */
  export(): Promise<{ readonly metrics: string; readonly readings: Readonly<Record<string, unknown>> }>
}

/** What facts, restart windows and recovery plans need from the configuration. */
export type NodeSettings = Pick<NodeSnapshot, 'epochs' | 'devices' | 'outbound'>

/** What facts and recovery plans are derived from. */
export type HealthInput = Pick<NodeSnapshot, 'at' | 'prefix' | 'known' | 'collectors' | 'readings'>
