import { linesPerBlock, linesPerSecond, oneOf } from './arguments.ts'
import { type ConsensusLog, LOG_LEVELS, STATUS_SHAPES, type ToolState } from './condition.ts'
import { bare, type Effect, type Phrase, phrase } from './phrase.ts'

const log =
  (change: (log: ConsensusLog, atMs: number) => Partial<ConsensusLog>): Effect =>
  (condition, atMs) => ({
    ...condition,
    log: { ...condition.log, ...change(condition.log, atMs) },
  })

const tool =
  (name: 'mpt' | 'status', state: ToolState): Effect =>
  (condition) => ({ ...condition, tools: { ...condition.tools, [name]: state } })

const callable = (subject: 'mpt' | 'status'): readonly Phrase[] => [
  bare(
    {
      subject,
      verb: 'hangs',
      means: 'the tool neither ends nor heeds SIGTERM',
    },
    tool(subject, 'hangs'),
  ),
  bare(
    { subject, verb: 'answers', means: 'the tool works again; what still hangs ends late' },
    tool(subject, 'answers'),
  ),
]

/** How the node's tools and its consensus log behave, apart from what they have to tell. */
export const outputPhrases: readonly Phrase[] = [
  phrase(
    { subject: 'status', verb: 'speaks', means: 'the status report has the shape of that script' },
    oneOf(STATUS_SHAPES),
    (statusSpeaks) => (condition) => ({ ...condition, statusSpeaks }),
  ),
  ...callable('status'),
  ...callable('mpt'),
  bare(
    {
      subject: 'mpt',
      verb: 'aborts',
      means: 'the tool writes a backtrace with an assertion and dies by SIGABRT',
    },
    tool('mpt', 'aborts'),
  ),
  bare(
    {
      subject: 'formats',
      verb: 'drift',
      means: 'reports, ledger stream and logs of the node use words that nobody has seen',
    },
    (condition) => ({ ...condition, formatsDrift: true }),
  ),
  bare(
    { subject: 'formats', verb: 'return', means: 'everything is worded as before' },
    (condition) => ({ ...condition, formatsDrift: false }),
  ),
  phrase(
    { subject: 'log', verb: 'speaks', means: 'the least level that the consensus log writes' },
    oneOf(LOG_LEVELS),
    (level) => log(() => ({ level })),
  ),
  phrase(
    {
      subject: 'log',
      verb: 'noise',
      means: 'so many lines of DEBUG without meaning stand in the consensus log with every block',
    },
    linesPerBlock,
    (noise) => log(() => ({ noise })),
  ),
  phrase(
    {
      subject: 'log',
      verb: 'floods',
      means: 'so many such lines come each second, until journald has enough and drops the rest',
    },
    linesPerSecond,
    (rate) => log((_, atMs) => ({ flood: { fromMs: atMs, linesPerSecond: rate } })),
  ),
  bare(
    { subject: 'log', verb: 'calms', means: 'the flood is over' },
    log(() => ({ flood: undefined })),
  ),
]
