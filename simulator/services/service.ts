import { constants } from 'node:os'
import { digest, pick } from '../chain.ts'
import { hour } from '../../src/core/units.ts'
import { recordFor } from '../../src/core/record.ts'
import type { NodeSubject } from '../subject.ts'
import type { Draft } from '../journal/entry.ts'
import { type Directive, directiveTable, exitCode, signal, taking } from '../scenario/directives.ts'
import type { Change, Effect } from '../scenario/timeline.ts'

/** The services of a node that a scenario can change. */
export const ROLES = ['bft', 'execution', 'rpc', 'ledger-tail', 'otelcol'] as const

export type Role = (typeof ROLES)[number]

interface Exit {
  readonly atMs: number
  readonly code: 'exited' | 'killed' | 'dumped'
  /** Exit code, or signal number. */
  readonly status: number
  /** Whether systemd stopped it on request. */
  readonly requested: boolean
  /** Whether the process wrote a panic before it ended. */
  readonly panicked?: boolean
}

/** The state of a service in systemd. */
export interface Service {
  readonly role: Role
  readonly state: 'active' | 'inactive' | 'failed'
  readonly result: 'success' | 'exit-code' | 'signal' | 'core-dump'
  /** How often it was started; identifies the invocation. */
  readonly generation: number
  readonly startedMs: number
  readonly changedMs: number
  readonly exit: Exit | undefined
  /** Whether the unit was removed. */
  readonly removed: boolean
}

/** All services of the node were restarted together, RPC last; the OpenTelemetry collector runs longer. */
const UPTIME_HOURS = { bft: 53.2, execution: 53.2, rpc: 53.1, 'ledger-tail': 53, otelcol: 311 } as const

/** A service that was started days before the simulation began. */
const createService = (role: Role, beginMs: number): Service => {
  const startedMs = beginMs - Math.round(UPTIME_HOURS[role] * hour) - pick(9000, 'start', role)
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

export const usualServices = (beginMs: number): Readonly<Record<Role, Service>> =>
  recordFor(ROLES, (role) => createService(role, beginMs))

/** Starts a new invocation; no effect if the service runs. */
const startService = (service: Service, atMs: number): Service =>
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

/** Stops the service if it runs and starts a new invocation. */
const restartService = (service: Service, atMs: number): Service =>
  startService(endService(service, { atMs, code: 'exited', status: 0, requested: true }), atMs)

/** Restarts these services together. */
export const restartAll = (
  services: Readonly<Record<Role, Service>>,
  roles: readonly Role[],
  atMs: number,
): Readonly<Record<Role, Service>> => ({
  ...services,
  ...Object.fromEntries(roles.map((role) => [role, restartService(services[role], atMs)])),
})

/** The services of the node itself. */
export const NODE_ROLES = ['bft', 'execution', 'rpc'] as const

/** Ends the running invocation; no effect if none runs. */
export const endService = (service: Service, exit: Exit): Service => {
  if (service.state !== 'active') return service
  const result = exit.requested ? 'success' : resultOf(exit)
  const state = result === 'success' ? 'inactive' : 'failed'
  return { ...service, state, result, changedMs: exit.atMs, exit }
}

export const unitOf = (prefix: string, role: Role): string =>
  role === 'otelcol' ? 'otelcol.service' : `${prefix}-${role}.service`

/** The description in the unit file. */
export const descriptionOf = (unit: string): string => `${unit.replace(/\.\w+$/, '').replaceAll('-', ' ')} (simulated)`

/** 32 hex digits, different for every start. */
export const invocationOf = (node: string, { role, generation }: Service): string =>
  digest(node, 'invocation', role, generation).slice(0, 32)

export const pidOf = ({ role, generation }: Service): number => 1200 + pick(28_000, 'pid', role, generation)

const resultOf = ({ code, status }: Exit): Service['result'] => {
  if (code === 'dumped') return 'core-dump'
  if (code === 'killed') return 'signal'
  return status === 0 ? 'success' : 'exit-code'
}

const changeService =
  (role: Role, to: (service: Service, atMs: number) => Service): Effect =>
  (condition, atMs) => ({
    ...condition,
    services: { ...condition.services, [role]: to(condition.services[role], atMs) },
  })

const endBy = (role: Role, exit: Omit<Exit, 'atMs'>): Effect =>
  changeService(role, (service, atMs) => endService(service, { ...exit, atMs }))

const remove: (role: Role) => Effect = (role) =>
  changeService(role, (service, atMs) => ({
    ...endService(service, { code: 'exited', status: 0, requested: true, atMs }),
    removed: true,
  }))

const SIGABRT = 6

/** Directives for one service. */
export const serviceDirectives = (subject: Role): readonly Directive[] =>
  directiveTable({
    [`${subject} crashes`]: [
      'a signal ends the process; systemd leaves the unit failed',
      taking(signal, ({ number, dumpsCore }) =>
        endBy(subject, { code: dumpsCore ? 'dumped' : 'killed', status: number, requested: false }),
      ),
    ],
    [`${subject} exits`]: [
      'the process exits with that code',
      taking(exitCode, (status) => endBy(subject, { code: 'exited', status, requested: false })),
    ],
    [`${subject} stops`]: [
      'an operator stops the service',
      endBy(subject, { code: 'exited', status: 0, requested: true }),
    ],
    [`${subject} vanishes`]: ['the service is stopped and its unit removed, until it starts', remove(subject)],
    [`${subject} starts`]: ['an operator starts the service: a new invocation', changeService(subject, startService)],
  })

export const panics = directiveTable({
  'bft panics': [
    'the process writes a panic, which is not JSON, and aborts',
    endBy('bft', { code: 'dumped', status: SIGABRT, requested: false, panicked: true }),
  ],
})

/** Message IDs of systemd's catalog; the texts are those of version 252. */
const MESSAGE_ID = {
  starting: '7d4958e842da4a758f6c1cdc7b36dcc5',
  started: '39f53479d3a045ac8e11786248231fbf',
  stopping: 'de5b426a63be47a7b6ac3eaac82e2f6f',
  stopped: '9d1aaa27d60140bd96365438aad20286',
  exited: '98e322203f7a4ed290d09fe03c09fe15',
  failed: 'd9b373ed55a64feb8242e02dbe79a49c',
  deactivated: '7ad2d189f7e94e70a38c781354912448',
} as const

/** The journal entries of PID 1 when a scenario starts or ends services. */
export function* lifecycleEntries({ name, prefix }: NodeSubject, { atMs, before, after }: Change): Generator<Draft> {
  for (const role of ROLES) {
    const [was, is] = [before.services[role], after.services[role]]
    const unit = unitOf(prefix, role)
    if (is.exit && is.exit !== was.exit) {
      yield* endEntries(unit, invocationOf(name, is), { ...is, exit: is.exit })
    }
    if (is.generation !== was.generation) {
      const write = writer(unit, invocationOf(name, is), atMs)
      yield write(`Started ${titleOf(unit)}.`, MESSAGE_ID.started, { JOB_TYPE: 'start', JOB_RESULT: 'done' })
    }
  }
}

/** The journal entries of PID 1 when a timer runs a oneshot unit. */
export function* oneshotEntries(unit: string, invocation: string, atMs: number): Generator<Draft> {
  const name = titleOf(unit)
  const write = writer(unit, invocation, atMs)
  const ended = writer(unit, invocation, atMs + ONESHOT_MS)
  yield write(`Starting ${name}...`, MESSAGE_ID.starting, { JOB_TYPE: 'start' })
  yield ended(`${unit}: Deactivated successfully.`, MESSAGE_ID.deactivated)
  yield ended(`Finished ${name}.`, MESSAGE_ID.started, { JOB_TYPE: 'start', JOB_RESULT: 'done' })
}

export const ONESHOT_MS = 1800

const titleOf = (unit: string): string => `${unit} - ${descriptionOf(unit)}`

function* endEntries(unit: string, invocation: string, service: Service & { readonly exit: Exit }): Generator<Draft> {
  const { exit, result } = service
  const write = writer(unit, invocation, exit.atMs)
  if (exit.requested) {
    yield write(`Stopping ${titleOf(unit)}...`, MESSAGE_ID.stopping, { JOB_TYPE: 'stop' })
  }
  if (result === 'success') {
    yield write(`${unit}: Deactivated successfully.`, MESSAGE_ID.deactivated)
  } else {
    const status = `${exit.status}/${exit.code === 'exited' ? 'FAILURE' : signalName(exit.status)}`
    yield write(`${unit}: Main process exited, code=${exit.code}, status=${status}`, MESSAGE_ID.exited, {
      PRIORITY: '4',
      COMMAND: 'ExecStart',
      EXIT_CODE: exit.code,
      EXIT_STATUS: String(exit.status),
    })
    yield write(`${unit}: Failed with result '${result}'.`, MESSAGE_ID.failed, { PRIORITY: '4', UNIT_RESULT: result })
  }
  if (exit.requested) {
    yield write(`Stopped ${titleOf(unit)}.`, MESSAGE_ID.stopped, { JOB_TYPE: 'stop', JOB_RESULT: 'done' })
  }
}

/** The signal name as systemd prints it, without SIG. */
const signalName = (number: number): string =>
  Object.entries(constants.signals)
    .find(([, known]) => known === number)?.[0]
    .slice('SIG'.length) ?? String(number)

const writer =
  (unit: string, invocation: string, atMs: number) =>
  (message: string, messageId: string, more: Readonly<Record<string, string>> = {}): Draft => ({
    atMs,
    fields: {
      MESSAGE: message,
      MESSAGE_ID: messageId,
      PRIORITY: '6',
      UNIT: unit,
      INVOCATION_ID: invocation,
      SYSLOG_IDENTIFIER: 'systemd',
      SYSLOG_FACILITY: '3',
      _PID: '1',
      _UID: '0',
      _COMM: 'systemd',
      _SYSTEMD_UNIT: 'init.scope',
      _TRANSPORT: 'journal',
      ...more,
    },
  })
