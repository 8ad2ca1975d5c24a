import { duration, figure } from '../../core/format.ts'
import { LIMITS, USUAL_RATE } from '../../health/limits.ts'
import type { Tone } from '../../cli/terminal/style.ts'
import { fact } from './fact.ts'
import { rpcReading } from './rpc.ts'
import { joined, type Section, summary, type View } from './section.ts'
import { nullableInteger, nullableFlag, listOf, nullableNumber, lenientObject, nullableText } from './reading-schema.ts'
import { relativeTime, count } from './format.ts'

const schema = lenientObject({
  references: listOf(
    lenientObject({
      name: nullableText,
      up: nullableFlag,
      blockNumber: nullableInteger,
      state: nullableText,
    }),
  ),
  agreeing: nullableNumber,
  difference: nullableInteger,
})

/** Negative is ahead of the references. */
const inWords = (difference: number): string =>
  difference < 0 ? `${count(-difference, 'block')} ahead` : `${count(difference, 'block')} behind`

/** The difference as time at the pace of the chain, with the limits of the health verdict. */
const toneIn =
  ({ known }: View) =>
  (difference: number): Tone | undefined => {
    const seconds = difference / (known.value('chain_blocks_per_second') ?? USUAL_RATE)
    if (seconds > LIMITS.behind.critical) return 'bad'
    return seconds > LIMITS.behind.warning ? 'notice' : undefined
  }

/** From the references, or, without references, from the status report of the node. */
const differenceOf = ({ known }: View): number | undefined => known.value('chain_block_difference')

export const chain: Section = {
  name: 'chain',
  aliases: ['references', 'height'],
  groups: [
    {
      collector: 'rpc',
      source: "the node's RPC",
      facts: (view) => [fact('blockNumber', rpcReading(view).blockNumber, { label: 'own height', text: figure })],
    },
    {
      collector: 'reference',
      source: 'the references',
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
      collector: 'derived',
      source: 'derived values',
      facts: ({ known }) => [
        fact('blocksPerSecond', known.value('chain_blocks_per_second'), {
          text: (rate) => rate.toFixed(2),
          unknownReason: 'not measured yet',
        }),
        fact(['blocksyncWindow', 'remainingBlocks'], known.value('chain_blocksync_window_remaining_blocks'), {
          label: 'blocksync window left',
          text: (blocks) => count(blocks, 'block'),
          unknownReason: 'requires own height and network height; none during statesync',
        }),
        fact(['blocksyncWindow', 'remainingSeconds'], known.value('chain_blocksync_window_remaining_seconds'), {
          label: 'window left, time',
          text: (seconds) => duration(seconds * 1000),
          unknownReason: 'requires the pace of the chain',
        }),
      ],
    },
  ],
  summary: (view) => {
    const { blockNumber, blocks } = rpcReading(view)
    const { references, agreeing } = view.reading('reference', schema)
    const difference = differenceOf(view)
    const elsewhere = references.find((one) => one.blockNumber !== null)?.blockNumber
    const network =
      elsewhere === undefined || elsewhere === null
        ? null
        : `own height unknown, the network is at ${figure(elsewhere)}`
    const own = blockNumber === null ? network : figure(blockNumber)
    const { at } = blocks.latest
    const age = at === null ? null : relativeTime(at, view.at)
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
