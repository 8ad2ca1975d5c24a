import { duration, figure } from '../../core/format.ts'
import { LIMITS, USUAL_RATE } from '../../health/limits.ts'
import type { Tone } from '../../cli/terminal/style.ts'
import { fact } from './fact.ts'
import { askedRpc } from './rpc.ts'
import { joined, type Section, summary, type View } from './section.ts'
import { digits, flag, listOf, amount, shape, word } from './shapes.ts'
import { away, count } from './texts.ts'

const schema = shape({
  references: listOf(shape({ name: word, up: flag, blockNumber: digits, state: word })),
  agreeing: amount,
  difference: digits,
})

/** Negative is ahead of what the references say. */
const inWords = (difference: number): string =>
  difference < 0 ? `${count(-difference, 'block')} ahead` : `${count(difference, 'block')} behind`

/** By the time that it takes the chain to make as many, as the verdict judges it. */
const toneIn =
  ({ known }: View) =>
  (difference: number): Tone | undefined => {
    const seconds = difference / (known.value('chain_blocks_per_second') ?? USUAL_RATE)
    if (seconds > LIMITS.behind.critical) return 'bad'
    return seconds > LIMITS.behind.warning ? 'notice' : undefined
  }

/** By the references, or, without any, by the node's own report. */
const differenceOf = ({ known }: View): number | undefined => known.value('chain_block_difference')

export const chain: Section = {
  name: 'chain',
  also: ['references', 'height'],
  about: 'own height against the references, pace of the chain, blocksync window',
  groups: [
    {
      from: 'rpc',
      by: "the node's RPC",
      facts: (view) => [
        fact('blockNumber', askedRpc(view).blockNumber, { label: 'own height', text: figure }),
      ],
    },
    {
      from: 'reference',
      by: 'the references',
      facts: (view) => {
        const { references, agreeing } = view.reading('reference', schema)
        return [
          fact('blockDifference', differenceOf(view), { text: inWords, tone: toneIn(view) }),
          fact('referencesAgreeing', agreeing, {
            text: (number) => `${number} of ${references.length}`,
          }),
          ...references.map(({ name, up, blockNumber, state }) =>
            fact(
              ['references', name ?? ''],
              { up, blockNumber, state },
              {
                label: `reference ${name ?? ''}`,
                text: () => joined([blockNumber && figure(blockNumber), state]) ?? 'unknown',
                tone: () => (up === true ? undefined : 'notice'),
              },
            ),
          ),
        ]
      },
    },
    {
      from: 'derived',
      by: 'what follows',
      facts: ({ known }) => [
        fact('blocksPerSecond', known.value('chain_blocks_per_second'), {
          text: (rate) => rate.toFixed(2),
          why: 'not measured yet',
        }),
        fact(
          ['blocksyncWindow', 'remainingBlocks'],
          known.value('chain_blocksync_window_remaining_blocks'),
          {
            label: 'blocksync window left',
            text: (blocks) => count(blocks, 'block'),
            why: 'needs own height and that of the network, and is none in statesync',
          },
        ),
        fact(
          ['blocksyncWindow', 'remainingSeconds'],
          known.value('chain_blocksync_window_remaining_seconds'),
          {
            label: 'the same in time',
            text: (seconds) => duration(seconds * 1000),
            why: 'needs the pace of the chain',
          },
        ),
      ],
    },
  ],
  summary: (view) => {
    const { blockNumber, blocks } = askedRpc(view)
    const { references, agreeing } = view.reading('reference', schema)
    const difference = differenceOf(view)
    const elsewhere = references.find((one) => one.blockNumber !== null)?.blockNumber
    const network =
      elsewhere === undefined || elsewhere === null
        ? null
        : `own height unknown, the network is at ${figure(elsewhere)}`
    const own = blockNumber === null ? network : figure(blockNumber)
    const { at } = blocks.latest
    const age = at === null ? null : away(at, view.at)
    return summary(
      joined([
        own,
        difference === undefined ? null : inWords(difference),
        agreeing === null || agreeing === references.length
          ? null
          : `${agreeing} of ${references.length} references agree`,
        age === null ? null : `block of ${age}`,
      ]),
      difference === undefined ? undefined : toneIn(view)(difference),
    )
  },
}
