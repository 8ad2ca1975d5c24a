import { figure, count } from '../../core/format.ts'
import { badUnless, fact, factsFor, joined, relativeTime } from './fact.ts'
import { group, type Section, statusReport, summary, type View } from './section.ts'
import { isStarting, isSyncing, newestBlock } from '../../domain/agreement.ts'
import { second } from '../../core/units.ts'
import { blockRate, networkRateText, NO_WINDOW, noBlockReason, noRateReason, referencesText } from '../facts.ts'
import { blocksBehind, blocksyncLeft, leftText } from '../gap.ts'
import { limitOf } from '../rules/index.ts'
import type { Tone } from '../../domain/health.ts'

/** The reading of the node's JSON-RPC, if it answered. */
const answerOf = ({ readings: { rpc: reading } }: View) => (reading?.up === true ? reading : undefined)

const TAGS = ['latest', 'safe', 'finalized'] as const

/** The class of the failure, without the message of the server. */
const failureOf = ({ readings: { rpc: reading } }: View): string | null =>
  reading?.up === false ? reading.reason : null

export const rpc: Section = {
  name: 'rpc',
  groups: [
    group('rpc', 'its port', (view) => {
      const up = view.readings.rpc?.up
      const reading = answerOf(view)
      const reason = failureOf(view)
      const { value, time } = factsFor(view.at, up === false ? 'it does not answer' : undefined)
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
            value(['asked', tag, 'blockNumber'], height, { label: `${tag} block`, text: figure }),
            time(['asked', tag, 'blockTime'], block?.at, { label: `${tag} block, its time` }),
          ]
        }),
        time(['asked', 'lastAdvanceAt'], reading?.lastAdvanceAt, { label: 'last advance' }),
        value(['asked', 'clientVersion'], reading?.info.clientVersion),
        value(['asked', 'chainId'], reading?.info.chainId),
        value(['asked', 'netVersion'], reading?.info.netVersion),
      ]
    }),
    statusReport((view) => {
      const reading = view.readings.status?.rpc
      return [
        fact('status', reading?.status, { tone: (status) => (status === 'active' ? undefined : 'notice') }),
        fact('clientVersion', reading?.clientVersion),
        fact('netVersion', reading?.netVersion),
        fact('blockNumber', reading?.blockNumber, { text: figure }),
      ]
    }),
  ],
  summary: (view) => {
    if (!view.readings.rpc) return null
    const reading = answerOf(view)
    if (!reading) {
      const why = failureOf(view) ?? 'unknown reason'
      // An RPC that starts before consensus is live does not listen.
      return isSyncing(view.known) || isStarting(view.known)
        ? summary(`does not answer, until consensus is live: ${why}`, 'notice')
        : summary(`does not answer: ${why}`, 'bad')
    }
    const finalized = reading.blocks.finalized?.number ?? null
    return summary([
      'answers',
      reading.info.clientVersion,
      finalized === null ? null : `finalized ${figure(finalized)}`,
    ])
  },
}

/** Negative is ahead of the references. */
const inWords = (difference: number): string =>
  difference < 0 ? `${count(-difference, 'block')} ahead` : `${count(difference, 'block')} behind`

/** The difference as time at the pace of the chain, with the limits of the health verdict. */
const toneIn =
  ({ known }: View) =>
  (difference: number): Tone | undefined => {
    // The alert is about the difference of the RPC.
    if (known.value('chain_block_difference') === undefined) return undefined
    const seconds = difference / blockRate(known)
    if (seconds > limitOf('ChainBehind', 'critical')) return 'bad'
    return seconds > limitOf('ChainBehind', 'warning') ? 'notice' : undefined
  }

/** Null if unknown. */
const comparedInWords = (
  comparison: { readonly height: bigint | null; readonly matches: boolean | null } | null,
): string | null =>
  comparison === null || comparison.height === null || comparison.matches === null
    ? null
    : `${comparison.matches ? 'same' : 'another'} block ${figure(comparison.height)}`

export const chain: Section = {
  name: 'chain',
  isOfNode: true,
  aliases: ['references', 'height'],
  groups: [
    group('rpc', "the node's RPC", (view) => [
      fact('blockNumber', answerOf(view)?.blockNumber, { label: 'own height', text: figure }),
    ]),
    group('reference', 'the references', (view) => {
      const { references = [], agreeing } = view.readings.reference ?? {}
      return [
        fact('blockDifference', blocksBehind(view), { text: inWords, tone: toneIn(view) }),
        fact('referencesAgreeing', agreeing, { text: (number) => `${number} of ${references.length}` }),
        ...references.map(({ name, up, blockNumber, state, comparison }) =>
          fact(
            ['references', name ?? ''],
            { up, blockNumber, state, comparison },
            {
              label: `reference ${name ?? ''}`,
              text: () =>
                joined([blockNumber === null ? null : figure(blockNumber), state, comparedInWords(comparison)]) ??
                'unknown',
              tone: () => (comparison?.matches === false ? 'bad' : up === true ? undefined : 'notice'),
            },
          ),
        ),
      ]
    }),
    group('derived', 'derived values', (view) => {
      const { known } = view
      const left = blocksyncLeft(view)
      const { value } = factsFor(view.at, NO_WINDOW)
      return [
        value('blocksPerSecond', known.value('chain_blocks_per_second'), {
          text: () => networkRateText(view) ?? '',
          unknownReason: noRateReason(view),
        }),
        value(['blocksyncWindow', 'remainingBlocks'], left?.blocks, {
          label: 'blocksync window left',
          text: (blocks) => count(blocks, 'block'),
        }),
        value(['blocksyncWindow', 'remainingSeconds'], left && left.ms / second, {
          label: 'window left, time',
          text: (seconds) => leftText(seconds * second, known),
        }),
      ]
    }),
  ],
  summary: (view) => {
    const { blockNumber = null, blocks } = answerOf(view) ?? {}
    const newest = newestBlock(view.known)
    const { references = [], agreeing = null } = view.readings.reference ?? {}
    const difference = blocksBehind(view)
    const elsewhere = references.find((one) => one.blockNumber !== null)?.blockNumber
    const height = blockNumber ?? newest?.height
    const why = noBlockReason(view.known)
    if (height === undefined && why === undefined && !view.readings.reference && difference === undefined) return null
    const network = elsewhere === undefined || elsewhere === null ? '' : `, the network is at ${figure(elsewhere)}`
    const own = height === undefined ? (why ?? 'own height unknown') + network : figure(height)
    const at = blocks?.latest?.at ?? (newest ? newest.time * second : null)
    const age = at === null ? null : relativeTime(at, view.at)
    return summary(
      [
        own,
        difference === undefined ? 'difference unknown' : inWords(difference),
        agreeing === null || references.length === 0
          ? `references: ${referencesText(view.snapshot)}`
          : agreeing === references.length
            ? null
            : `${agreeing} of ${references.length} references agree`,
        age === null ? null : `block of ${age}`,
      ],
      difference === undefined ? undefined : toneIn(view)(difference),
    )
  },
}
