import { digest, pick } from '../chain/random.ts'

/** The services of a node that a scenario can speak of. */
export const ROLES = ['bft', 'execution', 'rpc', 'ledger-tail', 'otelcol'] as const

export type Role = (typeof ROLES)[number]

export interface Exit {
  readonly atMs: number
  readonly code: 'exited' | 'killed' | 'dumped'
  /** Exit code, or number of the signal. */
  readonly status: number
  /** Whether somebody asked systemd to stop it. */
  readonly asked: boolean
  /** Whether the process wrote a panic before it ended. */
  readonly panicked?: boolean
}

/** A service as systemd knows it. */
export interface Service {
  readonly role: Role
  readonly state: 'active' | 'inactive' | 'failed'
  readonly result: 'success' | 'exit-code' | 'signal' | 'core-dump'
  /** How many times it was started: names the invocation. */
  readonly generation: number
  readonly startedMs: number
  readonly changedMs: number
  readonly exit: Exit | undefined
  /** Whether systemd knows no such unit any more. */
  readonly removed: boolean
}

const HOUR = 3_600_000
/** A node is restarted as a whole, RPC last; what watches it was there before. */
const UPTIME_HOURS = {
  bft: 53.2,
  execution: 53.2,
  rpc: 53.1,
  'ledger-tail': 53,
  otelcol: 311,
} as const

/** A service that was started days before the simulation began. */
export const createService = (role: Role, beginMs: number): Service => {
  const startedMs = beginMs - Math.round(UPTIME_HOURS[role] * HOUR) - pick(9000, 'start', role)
  return {
    role,
    state: 'active',
    result: 'success',
    generation: 1,
    startedMs,
    changedMs: startedMs,
    exit: undefined,
    removed: false,
  }
}

/** A new invocation; nothing where it already runs. */
export const startService = (service: Service, atMs: number): Service =>
  service.state === 'active'
    ? service
    : {
        ...service,
        state: 'active',
        result: 'success',
        generation: service.generation + 1,
        startedMs: atMs,
        changedMs: atMs,
        exit: undefined,
        removed: false,
      }

/** The end of the running invocation; nothing where none runs. */
export const endService = (service: Service, exit: Exit): Service => {
  if (service.state !== 'active') return service
  const result = exit.asked ? 'success' : resultOf(exit)
  const state = result === 'success' ? 'inactive' : 'failed'
  return { ...service, state, result, changedMs: exit.atMs, exit }
}

export const unitOf = (prefix: string, role: Role): string =>
  role === 'otelcol' ? 'otelcol.service' : `${prefix}-${role}.service`

/** The description in the unit file. */
export const descriptionOf = (unit: string): string =>
  `${unit.replace(/\.\w+$/, '').replaceAll('-', ' ')} (simulated)`

/** 32 hex digits that are new with every start. */
export const invocationOf = (node: string, { role, generation }: Service): string =>
  digest(node, 'invocation', role, generation).slice(0, 32)

export const pidOf = ({ role, generation }: Service): number =>
  1200 + pick(28_000, 'pid', role, generation)

const resultOf = ({ code, status }: Exit): Service['result'] => {
  if (code === 'dumped') return 'core-dump'
  if (code === 'killed') return 'signal'
  return status === 0 ? 'success' : 'exit-code'
}
