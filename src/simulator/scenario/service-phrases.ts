import { exitCode, signal } from './arguments.ts'
import { bare, type Effect, type Phrase, phrase } from './phrase.ts'
import { endService, type Exit, type Role, type Service, startService } from './service.ts'

const change =
  (role: Role, to: (service: Service, atMs: number) => Service): Effect =>
  (condition, atMs) => ({
    ...condition,
    services: { ...condition.services, [role]: to(condition.services[role], atMs) },
  })

const end = (role: Role, exit: Omit<Exit, 'atMs'>): Effect =>
  change(role, (service, atMs) => endService(service, { ...exit, atMs }))

const remove: (role: Role) => Effect = (role) =>
  change(role, (service, atMs) => ({
    ...endService(service, { code: 'exited', status: 0, asked: true, atMs }),
    removed: true,
  }))

const SIGABRT = 6

/** What may befall any service. */
export const servicePhrases = (subject: Role): readonly Phrase[] => [
  phrase(
    {
      subject,
      verb: 'crashes',
      means: 'a signal ends the process; systemd leaves the unit failed',
    },
    signal,
    ({ number, dumpsCore }) =>
      end(subject, { code: dumpsCore ? 'dumped' : 'killed', status: number, asked: false }),
  ),
  phrase(
    { subject, verb: 'exits', means: 'the process ends by itself, with that code' },
    exitCode,
    (status) => end(subject, { code: 'exited', status, asked: false }),
  ),
  bare(
    { subject, verb: 'stops', means: 'somebody stops the service' },
    end(subject, { code: 'exited', status: 0, asked: true }),
  ),
  bare(
    {
      subject,
      verb: 'vanishes',
      means: 'the service is stopped and its unit removed, until it starts',
    },
    remove(subject),
  ),
  bare(
    { subject, verb: 'starts', means: 'somebody starts the service: a new invocation' },
    change(subject, startService),
  ),
]

export const panics: Phrase = bare(
  {
    subject: 'bft',
    verb: 'panics',
    means: 'the process writes a panic, which is no JSON, and aborts',
  },
  end('bft', { code: 'dumped', status: SIGABRT, asked: false, panicked: true }),
)

/** The services of the node are started together, with a database that is too old to go on from. */
export const syncs =
  (lastsMs: number): Effect =>
  (condition, atMs) => {
    const again = (service: Service): Service =>
      startService(endService(service, { atMs, code: 'exited', status: 0, asked: true }), atMs)
    const { bft, execution, rpc, ...others } = condition.services
    return {
      ...condition,
      statesync: { fromMs: atMs, lastsMs, untilMs: atMs + lastsMs, leftMs: undefined },
      services: { ...others, bft: again(bft), execution: again(execution), rpc: again(rpc) },
    }
  }
