import { figure } from '../../core/format.ts'
import { badUnless, fact, timeFact } from './fact.ts'
import { FROM_STATUS_REPORT } from './report.ts'
import { joined, type Section, summary, type View } from './section.ts'

/** The reading of the node's JSON-RPC, if it answered. */
export const answerOf = ({ readings: { rpc: reading } }: View) => (reading?.up === true ? reading : undefined)

const TAGS = ['latest', 'safe', 'finalized'] as const

/** The class of the failure, without the message of the server. */
const failureOf = ({ readings: { rpc: reading } }: View): string | null =>
  reading?.up === false ? reading.reason : null

export const rpc: Section = {
  name: 'rpc',
  description: 'whether it answers, heights by block tag, version, network',
  groups: [
    {
      collector: 'rpc',
      source: 'its port',
      facts: (view) => {
        const up = view.readings.rpc?.up
        const reading = answerOf(view)
        const reason = failureOf(view)
        const gone = up === false ? { unknownReason: 'it does not answer' } : {}
        return [
          fact(['asked', 'up'], up, {
            label: 'answers',
            text: (answers) => (answers ? 'yes' : reason === null ? 'no' : `no: ${reason}`),
            tone: badUnless(up === true),
          }),
          ...TAGS.flatMap((tag) => {
            const block = reading?.blocks[tag]
            const height = tag === 'latest' ? reading?.blockNumber : block?.number
            return [
              fact(['asked', tag, 'blockNumber'], height, {
                label: `${tag} block`,
                text: figure,
                ...gone,
              }),
              timeFact(['asked', tag, 'blockTime'], block?.at, {
                label: `${tag} block, its time`,
                now: view.at,
                ...gone,
              }),
            ]
          }),
          timeFact(['asked', 'lastAdvanceAt'], reading?.lastAdvanceAt, {
            label: 'last advance',
            now: view.at,
            ...gone,
          }),
          fact(['asked', 'clientVersion'], reading?.info.clientVersion, gone),
          fact(['asked', 'chainId'], reading?.info.chainId, gone),
          fact(['asked', 'netVersion'], reading?.info.netVersion, gone),
        ]
      },
    },
    {
      ...FROM_STATUS_REPORT,
      facts: (view) => {
        const reading = view.readings.status?.rpc
        return [
          fact('status', reading?.status, {
            tone: (status) => (status === 'active' ? undefined : 'notice'),
          }),
          fact('clientVersion', reading?.clientVersion),
          fact('netVersion', reading?.netVersion),
          fact('blockNumber', reading?.blockNumber, { text: figure }),
        ]
      },
    },
  ],
  summary: (view) => {
    if (!view.readings.rpc) return null
    const reading = answerOf(view)
    if (!reading) return summary(`does not answer: ${failureOf(view) ?? 'unknown reason'}`, 'bad')
    const finalized = reading.blocks.finalized?.number ?? null
    return summary(
      joined(['answers', reading.info.clientVersion, finalized === null ? null : `finalized ${figure(finalized)}`]),
    )
  },
}
