import { definition as consensus } from './consensus/definition.ts'
import { definition as derived } from './derived/definition.ts'
import { definition as execution } from './execution/definition.ts'
import { definition as host } from './host/definition.ts'
import { definition as keys } from './keys/definition.ts'
import { definition as ledger } from './ledger/definition.ts'
import { definition as lifecycle } from './lifecycle/definition.ts'
import { definition as logs } from './logs/definition.ts'
import { definition as maintenance } from './maintenance/definition.ts'
import { definition as native } from './native/definition.ts'
import { definition as reference } from './reference/definition.ts'
import { definition as rpc } from './rpc/definition.ts'
import { definition as schedule } from './schedule/definition.ts'
import { definition as services } from './services/definition.ts'
import { definition as slo } from './slo/definition.ts'
import { definition as staking } from './staking/definition.ts'
import { definition as status } from './status/definition.ts'
import { definition as storage } from './storage/definition.ts'
import { definition as traffic } from './traffic/definition.ts'
import { definition as version } from './version/definition.ts'
import { definition as watched } from './watched/definition.ts'
import { alertmanagers, heartbeat } from '../outbound/definitions.ts'
import { collector, type ReadingOf } from './dependencies.ts'

/**
 * Every collector, in the order in which they start. Catalogue, configuration schema, example file and documentation
 * are derived from this list. To add a collector: its folder, and a line here.
 */
export const COLLECTORS = {
  rpc: collector(rpc, () => import('./rpc/collector.ts')),
  reference: collector(reference, () => import('./reference/collector.ts')),
  services: collector(services, () => import('./services/collector.ts')),
  lifecycle: collector(lifecycle, () => import('./lifecycle/collector.ts')),
  ledger: collector(ledger, () => import('./ledger/collector.ts')),
  consensus: collector(consensus, () => import('./consensus/collector.ts')),
  execution: collector(execution, () => import('./execution/collector.ts')),
  logs: collector(logs, () => import('./logs/collector.ts')),
  storage: collector(storage, () => import('./storage/collector.ts')),
  status: collector(status, () => import('./status/collector.ts')),
  host: collector(host, () => import('./host/collector.ts')),
  native: collector(native, () => import('./native/collector.ts')),
  traffic: collector(traffic, () => import('./traffic/collector.ts')),
  keys: collector(keys, () => import('./keys/collector.ts')),
  version: collector(version, () => import('./version/collector.ts')),
  derived: collector(derived, () => import('./derived/collector.ts')),
  schedule: collector(schedule, () => import('./schedule/collector.ts')),
  slo: collector(slo, () => import('./slo/collector.ts')),
  staking: collector(staking, () => import('./staking/collector.ts')),
  maintenance: collector(maintenance, () => import('./maintenance/collector.ts')),
  watched: collector(watched, () => import('./watched/collector.ts')),
  heartbeat: collector(heartbeat, () => import('../outbound/heartbeat.ts')),
  alertmanagers: collector(alertmanagers, () => import('../outbound/alertmanagers.ts')),
}

type Definitions = typeof COLLECTORS

/**
 * The readings that commands and health rules use, by collector: those with a schema in their definition. The compiler
 * checks that each collector produces what its schema decodes.
 */
export type Readings = {
  readonly [Name in keyof Definitions as Definitions[Name] extends { readonly reading: unknown } ? Name : never]?:
    | ReadingOf<Definitions[Name]>
    | undefined
}

/** Whether these are readings of collectors, by name. Each is one of the collector, or decoded by its schema. */
export const isReadings = (readings: Readonly<Record<string, unknown>>): readings is Readings =>
  Object.keys(readings).every((name) => name in COLLECTORS)
