import type { z } from 'zod'
import { second } from '../../core/units.ts'
import { blockAge, isNodeDown } from '../../health/facts.ts'
import { duration, figure } from '../../core/format.ts'
import { fact, momentFact } from './fact.ts'
import { BY_REPORT, reportIn } from './report.ts'
import { joined, type Section, summary, type View } from './section.ts'
import { amount, byName, digits, flag, shape, timestamp, word } from './shapes.ts'

const schema = shape({
  lastEntryAt: timestamp,
  round: digits,
  epoch: digits,
  block: digits,
  committing: flag,
  statesyncActive: flag,
  blocksyncActive: flag,
  messages: byName(amount),
  networkErrors: amount,
  networkErrorPeers: amount,
  votedAt: timestamp,
  panic: word,
})

/** The last 60 seconds of the consensus log. */
export const consensusLog = (view: View): ConsensusLog => view.reading('consensus', schema)

type ConsensusLog = z.output<typeof schema>

/** The log and the report are of the time before the service ended. */
const stopped = (view: View, { epoch, round }: Pick<ConsensusLog, 'epoch' | 'round'>): string => {
  const age = blockAge(view)
  const state = age === undefined ? 'stopped' : `stopped; last block ${duration(age * second)} ago`
  const last = joined([
    epoch === null ? null : `epoch ${epoch}`,
    round === null ? null : `round ${round}`,
  ])
  return last === null ? state : `${state}, in ${last}`
}

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
          fact('epoch', told.epoch, { text: figure }),
          fact('round', told.round, { text: figure }),
          fact('blockNumber', told.blockNumber, { text: figure }),
          fact('blockNumberFromExternal', told.externalBlockNumber, { text: figure }),
          fact('blockDifference', told.blockDifference, { text: figure }),
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
          fact(['log', 'epoch'], log.epoch, { text: figure }),
          fact(['log', 'round'], log.round, { text: figure }),
          fact(['log', 'block'], log.block, { text: figure }),
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
    const log = consensusLog(view)
    if (isNodeDown(view.known, 'bft')) return summary(stopped(view, log), 'bad')
    const told = reportIn(view).consensus
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
        log.epoch === null ? null : `epoch ${figure(log.epoch)}`,
        log.round === null ? null : `round ${figure(log.round)}`,
        told.status,
        told.mode,
      ]),
      isBad ? 'bad' : isStrange ? 'notice' : undefined,
    )
  },
}
