import { blocks, duration } from './arguments.ts'
import { nativePhrases } from './native-phrases.ts'
import { keyPhrases } from './key-phrases.ts'
import { hostPhrases } from './host-phrases.ts'
import { executionPhrases } from './execution-phrases.ts'
import { logPhrases } from './log-phrases.ts'
import { outputPhrases } from './output-phrases.ts'
import { bare, type Phrase, phrase } from './phrase.ts'
import { panics, servicePhrases, syncs } from './service-phrases.ts'
import { ROLES } from './service.ts'
import { statesyncPhrases } from './statesync-phrases.ts'
import { storagePhrases } from './storage-phrases.ts'
import { versionPhrases } from './version-phrases.ts'

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
  phrase(
    {
      subject: 'node',
      verb: 'syncs',
      means: 'the node is started anew and needs statesync for so long: no RPC, no blocks',
    },
    duration,
    syncs,
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
    {
      subject: 'node',
      verb: 'misses',
      means: 'every round that times out was its own to lead: four a minute',
    },
    (condition) => ({ ...condition, leads: 'badly' }),
  ),
  bare(
    {
      subject: 'node',
      verb: 'idles',
      means: 'the same, and none of the rounds that give a block is its own',
    },
    (condition) => ({ ...condition, leads: 'never' }),
  ),
  bare(
    { subject: 'node', verb: 'leads', means: 'the node leads as ever, and others time out' },
    (condition) => ({ ...condition, leads: 'well' }),
  ),
  bare(
    { subject: 'reference', verb: 'fails', means: 'the other views of the chain refuse' },
    (condition) => ({ ...condition, referenceAnswers: false }),
  ),
  bare(
    { subject: 'reference', verb: 'answers', means: 'the other views of the chain answer again' },
    (condition) => ({ ...condition, referenceAnswers: true }),
  ),
  bare(
    { subject: 'rpc', verb: 'fails', means: 'the RPC refuses, though its process runs' },
    (condition) => ({ ...condition, rpcAnswers: false }),
  ),
  bare({ subject: 'rpc', verb: 'answers', means: 'the RPC answers again' }, (condition) => ({
    ...condition,
    rpcAnswers: true,
  })),
  bare(
    { subject: 'rpc', verb: 'thaws', means: 'the RPC tells the height of the node again' },
    (condition) => ({ ...condition, rpcFrozen: false }),
  ),
  panics,
  ...ROLES.flatMap(servicePhrases),
  ...executionPhrases,
  ...storagePhrases,
  ...versionPhrases,
  ...keyPhrases,
  ...hostPhrases,
  ...outputPhrases,
  ...logPhrases,
  ...nativePhrases,
  ...statesyncPhrases,
]
