import { duration, linesPerSecond, oneOf } from './arguments.ts'
import {
  type Cleanup,
  CONSENSUS_SAYS,
  EXECUTION_SAYS,
  type JournalState,
  type Speech,
} from './logs.ts'
import { bare, type Effect, type Phrase, phrase } from './phrase.ts'
import { endService } from './service.ts'

const speech =
  (change: (atMs: number) => Partial<Speech>): Effect =>
  (condition, atMs) => ({ ...condition, speech: { ...condition.speech, ...change(atMs) } })
const journal =
  (change: Partial<JournalState>): Effect =>
  (condition) => ({ ...condition, journal: { ...condition.journal, ...change } })
const cleanup =
  (change: (atMs: number) => Partial<Cleanup>): Effect =>
  (condition, atMs) => ({ ...condition, cleanup: { ...condition.cleanup, ...change(atMs) } })

/** So often a node of v0.14.5 tells that its log is not written. */
const WAL_LINES_PER_SECOND = 250
const SIGABRT = 6

const asserts: Effect = (condition, atMs) => {
  const { services, speech: before } = condition
  const exit = { atMs, code: 'dumped', status: SIGABRT, asked: false } as const
  return {
    ...condition,
    speech: { ...before, last: { role: 'execution', says: 'assertion', atMs } },
    services: { ...services, execution: endService(services.execution, exit) },
  }
}

/** What the programs of a node write of their troubles, and how the journal takes it. */
export const logPhrases: readonly Phrase[] = [
  phrase(
    { subject: 'bft', verb: 'says', means: 'consensus writes that line; wal_stopped goes on' },
    oneOf(CONSENSUS_SAYS),
    (says) =>
      speech((atMs) =>
        says === 'wal_stopped'
          ? { walStopped: { fromMs: atMs, perSecond: WAL_LINES_PER_SECOND } }
          : { last: { role: 'bft', says, atMs } },
      ),
  ),
  bare(
    { subject: 'bft', verb: 'calms', means: 'wal_stopped is over' },
    speech(() => ({ walStopped: undefined })),
  ),
  phrase(
    { subject: 'execution', verb: 'says', means: 'execution writes that line, and goes on' },
    oneOf(EXECUTION_SAYS),
    (says) => speech((atMs) => ({ last: { role: 'execution', says, atMs } })),
  ),
  bare(
    {
      subject: 'execution',
      verb: 'asserts',
      means: 'the process writes a backtrace with an assertion, and aborts',
    },
    asserts,
  ),
  phrase(
    {
      subject: 'network',
      verb: 'noise',
      means: 'consensus logs so many errors a second about what other nodes send',
    },
    linesPerSecond,
    (perSecond) => speech((atMs) => ({ networkErrors: { fromMs: atMs, perSecond } })),
  ),
  bare(
    { subject: 'network', verb: 'calms', means: 'the noise is over' },
    speech(() => ({ networkErrors: undefined })),
  ),
  bare(
    {
      subject: 'cleanup',
      verb: 'skips',
      means: 'the clean-up finds no new file, and does nothing',
    },
    cleanup(() => ({ skips: true })),
  ),
  bare(
    {
      subject: 'cleanup',
      verb: 'works',
      means: 'it deletes, unless the node was stalled for 20 minutes',
    },
    cleanup(() => ({ skips: false })),
  ),
  bare(
    {
      subject: 'cleanup',
      verb: 'runs',
      means: 'somebody starts the clean-up, outside of its hour',
    },
    cleanup((atMs) => ({ ranMs: atMs })),
  ),
  bare(
    {
      subject: 'journal',
      verb: 'freezes',
      means: 'whoever reads the journal gets nothing more, and waits; the node goes on',
    },
    journal({ access: 'frozen' }),
  ),
  bare(
    { subject: 'journal', verb: 'thaws', means: 'readers get what was written meanwhile' },
    journal({ access: 'open' }),
  ),
  bare(
    {
      subject: 'journal',
      verb: 'forbids',
      means: 'journalctl refuses, as it does to a user outside of its group',
    },
    journal({ access: 'forbidden' }),
  ),
  bare(
    { subject: 'journal', verb: 'allows', means: 'journalctl reads again' },
    journal({ access: 'open' }),
  ),
  phrase(
    { subject: 'journal', verb: 'keeps', means: 'what is older than that is no longer there' },
    duration,
    (keptMs) => journal({ keptMs }),
  ),
]
