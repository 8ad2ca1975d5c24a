import { fact, momentFact } from './fact.ts'
import { BY_REPORT, reportIn } from './report.ts'
import { joined, type Section, summary, type View } from './section.ts'
import { amount, byName, digits, flag, shape, word } from './shapes.ts'

const schema = shape({
  lastEntryAt: amount,
  round: digits,
  epoch: digits,
  block: digits,
  committing: flag,
  statesyncActive: flag,
  blocksyncActive: flag,
  messages: byName(amount),
  networkErrors: amount,
  networkErrorPeers: amount,
  votedAt: amount,
  panic: word,
})

/** The last 60 seconds of the consensus log. */
export const consensusLog = (view: View) => view.reading('consensus', schema)

/** The words that are well; every other word of the report is not. */
const HEALTHY = { status: 'in-sync', mode: 'live' } as const

const KINDS = [
  ['committed_block', 'committed blocks'],
  ['round_advanced', 'rounds advanced'],
  ['round_timed_out', 'rounds timed out'],
  ['local_timeout', 'local timeouts'],
  ['vote_sent', 'votes sent'],
  ['proposal', 'proposals'],
  ['statesync', 'statesync messages'],
  ['blocksync', 'blocksync messages'],
  ['warning', 'warnings'],
  ['error', 'errors'],
] as const

export const consensus: Section = {
  name: 'consensus',
  about: 'status, mode, epoch, round, heights; the last minute of its log',
  groups: [
    {
      ...BY_REPORT,
      facts: (view) => {
        const told = reportIn(view).consensus
        const wordOf = (name: 'status' | 'mode') =>
          fact(name, told[name], {
            tone: (said) => (said === HEALTHY[name] ? undefined : 'notice'),
          })
        return [
          wordOf('status'),
          wordOf('mode'),
          fact('epoch', told.epoch),
          fact('round', told.round),
          fact('blockNumber', told.blockNumber),
          fact('blockNumberFromExternal', told.externalBlockNumber),
          fact('blockDifference', told.blockDifference),
        ]
      },
    },
    {
      from: 'consensus',
      by: 'the last 60 seconds of its log',
      facts: (view) => {
        const log = consensusLog(view)
        return [
          fact(['log', 'committing'], log.committing),
          fact(['log', 'epoch'], log.epoch),
          fact(['log', 'round'], log.round),
          fact(['log', 'block'], log.block),
          ...KINDS.map(([kind, label]) =>
            fact(['log', 'messages', kind], log.messages[kind], { label }),
          ),
          fact(['log', 'networkErrors'], log.networkErrors, {
            label: 'network errors, 5 min',
          }),
          momentFact(['log', 'votedAt'], log.votedAt, { label: 'last vote', now: view.at }),
          momentFact(['log', 'lastEntryAt'], log.lastEntryAt, {
            label: 'newest line',
            now: view.at,
          }),
          ...(log.panic === null
            ? []
            : [fact(['log', 'panic'], log.panic, { label: 'last panic', tone: () => 'bad' })]),
        ]
      },
    },
  ],
  summary: (view) => {
    const told = reportIn(view).consensus
    const log = consensusLog(view)
    const isBad = log.committing === false && log.statesyncActive !== true
    const isStrange =
      (told.status ?? HEALTHY.status) !== HEALTHY.status ||
      (told.mode ?? HEALTHY.mode) !== HEALTHY.mode
    return summary(
      joined([
        log.committing === null
          ? null
          : log.committing
            ? 'blocks committed in 60 s'
            : 'no block committed in 60 s',
        log.epoch === null ? null : `epoch ${log.epoch}`,
        log.round === null ? null : `round ${log.round}`,
        told.status,
        told.mode,
      ]),
      isBad ? 'bad' : isStrange ? 'notice' : undefined,
    )
  },
}
