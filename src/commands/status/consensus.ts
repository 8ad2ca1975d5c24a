import type { z } from 'zod'
import { second } from '../../core/units.ts'
import { blockAge, isNodeDown } from '../../health/facts.ts'
import { duration, figure } from '../../core/format.ts'
import { fact, timeFact } from './fact.ts'
import { FROM_STATUS_REPORT, statusReport } from './report.ts'
import { joined, type Section, summary, type View } from './section.ts'
import {
  nullableNumber,
  recordOf,
  nullableInteger,
  nullableFlag,
  lenientObject,
  timestamp,
  nullableText,
} from './reading-schema.ts'

const schema = lenientObject({
  lastEntryAt: timestamp,
  round: nullableInteger,
  epoch: nullableInteger,
  block: nullableInteger,
  committing: nullableFlag,
  statesyncActive: nullableFlag,
  blocksyncActive: nullableFlag,
  messages: recordOf(nullableNumber),
  networkErrors: nullableNumber,
  networkErrorPeers: nullableNumber,
  votedAt: timestamp,
  panic: nullableText,
})

/** The last 60 seconds of the consensus log. */
export const consensusLog = (view: View): ConsensusLog => view.reading('consensus', schema)

type ConsensusLog = z.output<typeof schema>

/** Log and status report are from before the service stopped. */
const stopped = (view: View, { epoch, round }: Pick<ConsensusLog, 'epoch' | 'round'>): string => {
  const age = blockAge(view)
  const state = age === undefined ? 'stopped' : `stopped; last block ${duration(age * second)} ago`
  const last = joined([epoch === null ? null : `epoch ${epoch}`, round === null ? null : `round ${round}`])
  return last === null ? state : `${state}, in ${last}`
}

/** The values of a healthy node; every other value is a notice. */
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
  groups: [
    {
      ...FROM_STATUS_REPORT,
      facts: (view) => {
        const reading = statusReport(view).consensus
        const wordOf = (name: 'status' | 'mode') =>
          fact(name, reading[name], {
            tone: (value) => (value === HEALTHY[name] ? undefined : 'notice'),
          })
        return [
          wordOf('status'),
          wordOf('mode'),
          fact('epoch', reading.epoch, { text: figure }),
          fact('round', reading.round, { text: figure }),
          fact('blockNumber', reading.blockNumber, { text: figure }),
          fact('blockNumberFromExternal', reading.externalBlockNumber, { text: figure }),
          fact('blockDifference', reading.blockDifference, { text: figure }),
        ]
      },
    },
    {
      collector: 'consensus',
      source: 'the last 60 seconds of its log',
      facts: (view) => {
        const log = consensusLog(view)
        return [
          fact(['log', 'committing'], log.committing),
          fact(['log', 'epoch'], log.epoch, { text: figure }),
          fact(['log', 'round'], log.round, { text: figure }),
          fact(['log', 'block'], log.block, { text: figure }),
          ...KINDS.map(([kind, label]) => fact(['log', 'messages', kind], log.messages[kind], { label })),
          fact(['log', 'networkErrors'], log.networkErrors, {
            label: 'network errors, 5 min',
          }),
          timeFact(['log', 'votedAt'], log.votedAt, { label: 'last vote', now: view.at }),
          timeFact(['log', 'lastEntryAt'], log.lastEntryAt, {
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
    const reading = statusReport(view).consensus
    const isBad = log.committing === false && log.statesyncActive !== true
    const isStrange =
      (reading.status ?? HEALTHY.status) !== HEALTHY.status || (reading.mode ?? HEALTHY.mode) !== HEALTHY.mode
    return summary(
      joined([
        log.committing === null ? null : log.committing ? 'blocks committed in 60 s' : 'no block committed in 60 s',
        log.epoch === null ? null : `epoch ${figure(log.epoch)}`,
        log.round === null ? null : `round ${figure(log.round)}`,
        reading.status,
        reading.mode,
      ]),
      isBad ? 'bad' : isStrange ? 'notice' : undefined,
    )
  },
}
