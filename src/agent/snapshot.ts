import { isReadings, type Readings } from '../collectors/index.ts'
import type { CollectorStatus } from '../core/board.ts'
import { redactAll } from '../core/redaction/redact.ts'
import type { Config } from '../config/schema.ts'
import { readEpochLengths } from '../config/staking.ts'
import type { CollectorState, NodeSettings } from '../health/snapshot.ts'

/** What a snapshot contains of the configuration. */
export const settingsOf = ({ storage, alertmanagers }: Pick<Config, 'storage' | 'alertmanagers'>): NodeSettings => ({
  epochs: readEpochLengths(),
  devices: storage.devices,
  outbound: { alertmanagers: alertmanagers.urls.map((url) => new URL(url).host) },
})

/** The collectors of a board, as health rules, commands and pages read them. */
export const collectorStates = (statuses: readonly CollectorStatus[]): readonly CollectorState[] =>
  statuses.map(({ reading, ...state }) => ({ ...state, hasReading: reading !== undefined }))

/** The readings of a board by collector, redacted. */
export const readingsOf = (statuses: readonly CollectorStatus[]): Readings => {
  const readings = Object.fromEntries(statuses.map(({ name, reading }) => [name, withoutSecrets(reading)]))
  if (!isReadings(readings)) throw new RangeError('a reading without a collector')
  return readings
}

/** A reading does not change, and most are the same as the last time. */
const known = new WeakMap<object, unknown>()
const withoutSecrets = (reading: unknown): unknown => {
  if (typeof reading !== 'object' || reading === null) return redactAll(reading)
  if (!known.has(reading)) known.set(reading, redactAll(reading))
  return known.get(reading)
}
