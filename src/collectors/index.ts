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
  rpc: collector(rpc, async () => (await import('./rpc/collector.ts')).rpc),
  reference: collector(reference, async () => (await import('./reference/collector.ts')).reference, {
    hasWork: (_, { references }) => references.length > 0,
  }),
  services: collector(services, async () => (await import('./services/collector.ts')).services),
  lifecycle: collector(lifecycle, async () => (await import('./lifecycle/collector.ts')).lifecycle),
  ledger: collector(ledger, async () => (await import('./ledger/collector.ts')).ledger),
  consensus: collector(consensus, async () => (await import('./consensus/collector.ts')).consensus),
  execution: collector(execution, async () => (await import('./execution/collector.ts')).execution),
  // Without a unit, journalctl would follow all units of the host.
  logs: collector(logs, async () => (await import('./logs/collector.ts')).logs, {
    hasWork: ({ units }) => Object.keys(units).length > 0,
  }),
  storage: collector(storage, async () => (await import('./storage/collector.ts')).storage),
  status: collector(status, async () => (await import('./status/collector.ts')).status),
  host: collector(host, async () => (await import('./host/collector.ts')).host, { role: 'derived' }),
  native: collector(native, async () => (await import('./native/collector.ts')).native),
  traffic: collector(traffic, async () => (await import('./traffic/collector.ts')).traffic),
  keys: collector(keys, async () => (await import('./keys/collector.ts')).keys),
  version: collector(version, async () => (await import('./version/collector.ts')).version, { role: 'derived' }),
  derived: collector(derived, async () => (await import('./derived/collector.ts')).derived, { role: 'derived' }),
  schedule: collector(schedule, async () => (await import('./schedule/collector.ts')).schedule, { role: 'derived' }),
  slo: collector(slo, async () => (await import('./slo/collector.ts')).slo, { role: 'derived' }),
  // The status report may provide the public key.
  staking: collector(staking, async () => (await import('./staking/collector.ts')).staking, { role: 'derived' }),
  maintenance: collector(maintenance, async () => (await import('./maintenance/collector.ts')).maintenance),
  watched: collector(watched, async () => (await import('./watched/collector.ts')).watched, {
    hasWork: ({ name }) => name !== null,
  }),
  heartbeat: collector(heartbeat, async () => (await import('../outbound/heartbeat.ts')).heartbeat, {
    role: 'outbound',
    hasWork: ({ urlFile }) => urlFile !== null,
  }),
  alertmanagers: collector(alertmanagers, async () => (await import('../outbound/alertmanagers.ts')).alertmanagers, {
    role: 'outbound',
    hasWork: ({ urls }) => urls.length > 0,
  }),
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
