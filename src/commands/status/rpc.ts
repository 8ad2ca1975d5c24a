import { figure } from '../../core/format.ts'
import { badUnless, fact, timeFact } from './fact.ts'
import { FROM_STATUS_REPORT, statusReport } from './report.ts'
import { joined, type Section, summary, type View } from './section.ts'
import { nullableInteger, nullableFlag, lenientObject, timestamp, nullableText } from './reading-schema.ts'

const block = lenientObject({ number: nullableInteger, at: timestamp })

const schema = lenientObject({
  up: nullableFlag,
  reason: nullableText,
  detail: nullableText,
  blockNumber: nullableInteger,
  blocks: lenientObject({ latest: block, safe: block, finalized: block }),
  lastAdvanceAt: timestamp,
  info: lenientObject({
    clientVersion: nullableText,
    chainId: nullableInteger,
    netVersion: nullableText,
  }),
})

/** The reading of the node's JSON-RPC. */
export const rpcReading = (view: View) => view.reading('rpc', schema)

const TAGS = ['latest', 'safe', 'finalized'] as const

/** The class of the failure, without the message of the server. */
const noAnswer = ({ reason }: { readonly reason: string | null }): string => (reason === null ? 'no' : `no: ${reason}`)

export const rpc: Section = {
  name: 'rpc',
  groups: [
    {
      collector: 'rpc',
      source: 'its port',
      facts: (view) => {
        const reading = rpcReading(view)
        const gone = reading.up === false ? { unknownReason: 'it does not answer' } : {}
        return [
          fact(['asked', 'up'], reading.up, {
            label: 'answers',
            text: (up) => (up ? 'yes' : noAnswer(reading)),
            tone: badUnless(reading.up === true),
          }),
          ...TAGS.flatMap((tag) => {
            const { number, at } = reading.blocks[tag]
            const height = tag === 'latest' ? reading.blockNumber : number
            return [
              fact(['asked', tag, 'blockNumber'], height, {
                label: `${tag} block`,
                text: figure,
                ...gone,
              }),
              timeFact(['asked', tag, 'blockTime'], at, {
                label: `${tag} block, its time`,
                now: view.at,
                ...gone,
              }),
            ]
          }),
          timeFact(['asked', 'lastAdvanceAt'], reading.lastAdvanceAt, {
            label: 'last advance',
            now: view.at,
            ...gone,
          }),
          fact(['asked', 'clientVersion'], reading.info.clientVersion, gone),
          fact(['asked', 'chainId'], reading.info.chainId, gone),
          fact(['asked', 'netVersion'], reading.info.netVersion, gone),
        ]
      },
    },
    {
      ...FROM_STATUS_REPORT,
      facts: (view) => {
        const reading = statusReport(view).rpc
        return [
          fact('status', reading.status, {
            tone: (status) => (status === 'active' ? undefined : 'notice'),
          }),
          fact('clientVersion', reading.clientVersion),
          fact('netVersion', reading.netVersion),
          fact('blockNumber', reading.blockNumber, { text: figure }),
        ]
      },
    },
  ],
  summary: (view) => {
    const reading = rpcReading(view)
    if (reading.up === null) return null
    if (!reading.up) return summary(`does not answer: ${reading.reason ?? 'unknown reason'}`, 'bad')
    const { finalized } = reading.blocks
    return summary(
      joined([
        'answers',
        reading.info.clientVersion,
        finalized.number === null ? null : `finalized ${figure(finalized.number)}`,
      ]),
    )
  },
}
