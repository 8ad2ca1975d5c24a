import { second } from '../../core/units.ts'
import { blockAge, isNodeDown } from '../../health/facts.ts'
import { duration, figure } from '../../core/format.ts'
import { fact, timeFact } from './fact.ts'
import { FROM_STATUS_REPORT } from './report.ts'
import { joined, type Section, summary, type View } from './section.ts'

/** Log and status report are from before the service stopped. */
const stopped = (view: View): string => {
  const { epoch = null, round = null } = view.readings.consensus ?? {}
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
  description: 'status, mode, epoch, round, heights; the last minute of its log',
  groups: [
    {
      ...FROM_STATUS_REPORT,
      facts: (view) => {
        const reading = view.readings.status?.consensus
        const wordOf = (name: 'status' | 'mode') =>
          fact(name, reading?.[name], {
            tone: (value) => (value === HEALTHY[name] ? undefined : 'notice'),
          })
        return [
          wordOf('status'),
          wordOf('mode'),
          fact('epoch', reading?.epoch, { text: figure }),
          fact('round', reading?.round, { text: figure }),
          fact('blockNumber', reading?.blockNumber, { text: figure }),
          fact('blockNumberFromExternal', reading?.externalBlockNumber, { text: figure }),
          fact('blockDifference', reading?.blockDifference, { text: figure }),
        ]
      },
    },
    {
      collector: 'consensus',
      source: 'the last 60 seconds of its log',
      facts: (view) => {
        const log = view.readings.consensus
        return [
          fact(['log', 'committing'], log?.committing),
          fact(['log', 'epoch'], log?.epoch, { text: figure }),
          fact(['log', 'round'], log?.round, { text: figure }),
          fact(['log', 'block'], log?.block, { text: figure }),
          ...KINDS.map(([kind, label]) => fact(['log', 'messages', kind], log?.messages[kind], { label })),
          fact(['log', 'networkErrors'], log?.networkErrors, {
            label: 'network errors, 5 min',
          }),
          timeFact(['log', 'votedAt'], log?.votedAt, { label: 'last vote', now: view.at }),
          timeFact(['log', 'lastEntryAt'], log?.lastEntryAt, {
            label: 'newest line',
            now: view.at,
          }),
          ...(typeof log?.panic === 'string'
            ? [fact(['log', 'panic'], log.panic, { label: 'last panic', tone: () => 'bad' })]
            : []),
        ]
      },
    },
  ],
  summary: (view) => {
    const { committing = null, statesyncActive, epoch = null, round = null } = view.readings.consensus ?? {}
    if (isNodeDown(view.known, 'bft')) return summary(stopped(view), 'bad')
    const reading = view.readings.status?.consensus
    const isBad = committing === false && statesyncActive !== true
    const isStrange =
      (reading?.status ?? HEALTHY.status) !== HEALTHY.status || (reading?.mode ?? HEALTHY.mode) !== HEALTHY.mode
    return summary(
      joined([
        committing === null ? null : committing ? 'blocks committed in 60 s' : 'no block committed in 60 s',
        epoch === null ? null : `epoch ${figure(epoch)}`,
        round === null ? null : `round ${figure(round)}`,
        reading?.status,
        reading?.mode,
      ]),
      isBad ? 'bad' : isStrange ? 'notice' : undefined,
    )
  },
}
