import { figure } from '../../core/format.ts'
import { badUnless, fact, momentFact } from './fact.ts'
import { BY_REPORT, reportIn } from './report.ts'
import { joined, type Section, summary, type View } from './section.ts'
import { digits, flag, shape, timestamp, word } from './shapes.ts'

const block = shape({ number: digits, at: timestamp })

const schema = shape({
  up: flag,
  reason: word,
  detail: word,
  blockNumber: digits,
  blocks: shape({ latest: block, safe: block, finalized: block }),
  lastAdvanceAt: timestamp,
  info: shape({ clientVersion: word, chainId: digits, netVersion: word }),
})

/** The node's JSON-RPC, asked by the agent. */
export const askedRpc = (view: View) => view.reading('rpc', schema)

const TAGS = ['latest', 'safe', 'finalized'] as const

/** Why nothing came, without the words of a server. */
const refusalOf = ({ reason }: { readonly reason: string | null }): string =>
  reason === null ? 'no' : `no: ${reason}`

export const rpc: Section = {
  name: 'rpc',
  about: 'whether it answers, heights by block tag, version, network',
  groups: [
    {
      from: 'rpc',
      by: 'its port',
      facts: (view) => {
        const told = askedRpc(view)
        const gone = told.up === false ? { why: 'it does not answer' } : {}
        return [
          fact(['asked', 'up'], told.up, {
            label: 'answers',
            text: (up) => (up ? 'yes' : refusalOf(told)),
            tone: badUnless(told.up === true),
          }),
          ...TAGS.flatMap((tag) => {
            const { number, at } = told.blocks[tag]
            const height = tag === 'latest' ? told.blockNumber : number
            return [
              fact(['asked', tag, 'blockNumber'], height, {
                label: `${tag} block`,
                text: figure,
                ...gone,
              }),
              momentFact(['asked', tag, 'blockTime'], at, {
                label: `${tag} block, its time`,
                now: view.at,
                ...gone,
              }),
            ]
          }),
          momentFact(['asked', 'lastAdvanceAt'], told.lastAdvanceAt, {
            label: 'last grew',
            now: view.at,
            ...gone,
          }),
          fact(['asked', 'clientVersion'], told.info.clientVersion, gone),
          fact(['asked', 'chainId'], told.info.chainId, gone),
          fact(['asked', 'netVersion'], told.info.netVersion, gone),
        ]
      },
    },
    {
      ...BY_REPORT,
      facts: (view) => {
        const told = reportIn(view).rpc
        return [
          fact('status', told.status, {
            tone: (said) => (said === 'active' ? undefined : 'notice'),
          }),
          fact('clientVersion', told.clientVersion),
          fact('netVersion', told.netVersion),
          fact('blockNumber', told.blockNumber, { text: figure }),
        ]
      },
    },
  ],
  summary: (view) => {
    const told = askedRpc(view)
    if (told.up === null) return null
    if (!told.up) return summary(`does not answer: ${told.reason ?? 'unknown why'}`, 'bad')
    const { finalized } = told.blocks
    return summary(
      joined([
        'answers',
        told.info.clientVersion,
        finalized.number === null ? null : `finalized ${figure(finalized.number)}`,
      ]),
    )
  },
}
