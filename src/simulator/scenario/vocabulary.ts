import { bare, blocks, type Effect, exitCode, type Phrase, phrase, signal } from './phrase.ts'
import { endService, type Exit, type Role, ROLES, type Service, startService } from './service.ts'

const change =
  (role: Role, to: (service: Service, atMs: number) => Service): Effect =>
  (condition, atMs) => ({
    ...condition,
    services: { ...condition.services, [role]: to(condition.services[role], atMs) },
  })

const end = (role: Role, exit: Omit<Exit, 'atMs'>): Effect =>
  change(role, (service, atMs) => endService(service, { ...exit, atMs }))

const service = (subject: Role): readonly Phrase[] => [
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
    { subject, verb: 'starts', means: 'somebody starts the service: a new invocation' },
    change(subject, startService),
  ),
]

/** Every kind of line that a scenario may hold: a new kind is a new row. */
export const vocabulary: readonly Phrase[] = [
  phrase(
    {
      subject: 'node',
      verb: 'behind',
      means: 'the node follows the network so many blocks behind',
    },
    blocks,
    (behind) => (condition) => ({ ...condition, behind }),
  ),
  bare(
    {
      subject: 'consensus',
      verb: 'stops',
      means: 'no block comes any more, though every process runs',
    },
    (condition) => ({ ...condition, consensusRuns: false }),
  ),
  bare(
    { subject: 'consensus', verb: 'resumes', means: 'the node catches up with the network' },
    (condition) => ({ ...condition, consensusRuns: true }),
  ),
  bare(
    {
      subject: 'rpc',
      verb: 'frozen',
      means: 'the RPC goes on answering, with the height it has now',
    },
    (condition) => ({ ...condition, rpcFrozen: true }),
  ),
  bare(
    { subject: 'rpc', verb: 'thaws', means: 'the RPC tells the height of the node again' },
    (condition) => ({ ...condition, rpcFrozen: false }),
  ),
  ...ROLES.flatMap(service),
]
