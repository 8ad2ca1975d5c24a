import { definition as consensus } from './consensus/definition.ts'
import { definition as derived } from './derived/definition.ts'
import { definition as execution } from './execution/definition.ts'
import { definition as heartbeat } from './heartbeat/definition.ts'
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
import { definition as tokens } from './tokens/definition.ts'
import { definition as version } from './version/definition.ts'
import type { ReadingOf } from './dependencies.ts'

/**
 * Every collector, in the order in which they start. Catalogue, configuration schema, example file and documentation
 * are derived from this list. To add a collector: its folder, and a line here.
 */
export const COLLECTORS = {
  rpc: { ...rpc, load: async () => (await import('./rpc/collector.ts')).offer },
  reference: { ...reference, load: async () => (await import('./reference/collector.ts')).offer },
  services: { ...services, load: async () => (await import('./services/collector.ts')).offer },
  lifecycle: { ...lifecycle, load: async () => (await import('./lifecycle/collector.ts')).offer },
  ledger: { ...ledger, load: async () => (await import('./ledger/collector.ts')).offer },
  consensus: { ...consensus, load: async () => (await import('./consensus/collector.ts')).offer },
  execution: { ...execution, load: async () => (await import('./execution/collector.ts')).offer },
  logs: { ...logs, load: async () => (await import('./logs/collector.ts')).offer },
  storage: { ...storage, load: async () => (await import('./storage/collector.ts')).offer },
  status: { ...status, load: async () => (await import('./status/collector.ts')).offer },
  host: { ...host, load: async () => (await import('./host/collector.ts')).offer },
  native: { ...native, load: async () => (await import('./native/collector.ts')).offer },
  keys: { ...keys, load: async () => (await import('./keys/collector.ts')).offer },
  version: { ...version, load: async () => (await import('./version/collector.ts')).offer },
  derived: { ...derived, load: async () => (await import('./derived/collector.ts')).offer },
  schedule: { ...schedule, load: async () => (await import('./schedule/collector.ts')).offer },
  slo: { ...slo, load: async () => (await import('./slo/collector.ts')).offer },
  tokens: { ...tokens, load: async () => (await import('./tokens/collector.ts')).offer },
  staking: { ...staking, load: async () => (await import('./staking/collector.ts')).offer },
  maintenance: {
    ...maintenance,
    load: async () => (await import('./maintenance/collector.ts')).offer,
  },
  heartbeat: { ...heartbeat, load: async () => (await import('./heartbeat/collector.ts')).offer },
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
