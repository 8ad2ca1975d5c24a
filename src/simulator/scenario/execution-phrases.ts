import { duration, oneOf, percent } from './arguments.ts'
import { type Execution, EXECUTION_SHAPES, usualExecution } from './execution.ts'
import { bare, type Effect, type Phrase, phrase } from './phrase.ts'

const execution =
  (change: Partial<Execution>): Effect =>
  (condition) => ({ ...condition, execution: { ...condition.execution, ...change } })

const { blockMs, retriedPercent, twice } = usualExecution

/** How blocks are executed, apart from whether the service runs. */
export const executionPhrases: readonly Phrase[] = [
  phrase(
    { subject: 'execution', verb: 'slows', means: 'a block takes about so long' },
    duration,
    (ms) => execution({ blockMs: ms }),
  ),
  phrase(
    {
      subject: 'execution',
      verb: 'retries',
      means: 'so much of the transactions of a block has to be executed again',
    },
    percent,
    (share) => execution({ retriedPercent: share }),
  ),
  bare(
    {
      subject: 'execution',
      verb: 'reexecutes',
      means: 'each height is executed twice, with two blocks',
    },
    execution({ twice: true }),
  ),
  bare(
    { subject: 'execution', verb: 'recovers', means: 'blocks are executed as ever' },
    execution({ blockMs, retriedPercent, twice }),
  ),
  phrase(
    {
      subject: 'execution',
      verb: 'speaks',
      means: 'the log of execution is worded as in that version',
    },
    oneOf(EXECUTION_SHAPES),
    (speaks) => execution({ speaks }),
  ),
]
