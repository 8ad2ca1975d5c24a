import { figure } from '../../core/format.ts'
import { consensusLog } from './consensus.ts'
import { fact, timeFact } from './fact.ts'
import { joined, type Section, summary, type View } from './section.ts'
import { nullableNumber, nullableFlag, lenientObject, objectOrNull, nullableText } from './reading-schema.ts'
import { share } from './format.ts'

const schema = lenientObject({
  duties: objectOrNull({
    rounds: nullableNumber,
    timeouts: nullableNumber,
    ownBlocks: nullableNumber,
    ownTimeouts: nullableNumber,
    expected: nullableNumber,
    shortfallProbability: nullableNumber,
  }),
  identity: objectOrNull({ key: nullableText, isActive: nullableFlag }),
})

const dutiesIn = (view: View) => view.reading('derived', schema)

/** The node's own turns are known only if its key is known. */
const ownDuties = (view: View) => {
  const { duties: reading, identity } = dutiesIn(view)
  return identity === null ? null : reading
}

export const duties: Section = {
  name: 'duties',
  groups: [
    {
      collector: 'derived',
      source: 'the last six hours',
      facts: (view) => {
        const { duties: all, identity } = dutiesIn(view)
        const own = ownDuties(view)
        const why = all === null ? 'no round was read yet' : undefined
        const whyOwn = why ?? (identity === null ? 'the key of this node is not known yet' : undefined)
        return [
          fact('identityActive', identity?.isActive, {
            label: 'signs with its key',
            unknownReason: whyOwn,
          }),
          fact('rounds', all?.rounds, { unknownReason: why }),
          fact('timeouts', all?.timeouts, { label: 'rounds that timed out', unknownReason: why }),
          fact('ownBlocks', own?.ownBlocks, { unknownReason: whyOwn }),
          fact('ownTimeouts', own?.ownTimeouts, {
            unknownReason: whyOwn,
            tone: (missed) => (missed > 0 ? 'notice' : undefined),
          }),
          fact('expectedSlots', own?.expected, {
            label: 'own turns expected',
            unknownReason: whyOwn ?? 'requires the share of the stake',
            text: (slots) => slots.toFixed(1),
          }),
          fact('shortfallProbability', own?.shortfallProbability, {
            label: 'probability by chance',
            unknownReason: whyOwn ?? 'requires the expected turns',
            text: share,
          }),
        ]
      },
    },
    {
      collector: 'ledger',
      source: 'the ledger stream',
      facts: ({ known }) => [
        fact('ownConsecutiveTimeouts', known.value('chain_ledger_own_consecutive_timeouts'), {
          label: 'missed in a row',
          tone: (missed) => (missed > 0 ? 'notice' : undefined),
        }),
      ],
    },
    {
      collector: 'native',
      source: 'the metrics of consensus',
      facts: ({ known }) => [
        fact('stakeRatio', known.value('chain_native_stake_ratio'), {
          label: 'share of the stake',
          text: (ratio) => (ratio === 0 ? '0.00%: not in the active set' : share(ratio)),
        }),
      ],
    },
    {
      collector: 'consensus',
      source: 'the consensus log',
      facts: (view) => [
        timeFact('votedAt', consensusLog(view).votedAt, {
          label: 'last vote',
          now: view.at,
          unknownReason: 'a full node never votes',
        }),
      ],
    },
  ],
  summary: (view) => {
    const own = ownDuties(view)
    const stake = view.known.value('chain_native_stake_ratio')
    return summary(
      joined([
        own === null || own.ownBlocks === null ? null : `${figure(own.ownBlocks)} own blocks`,
        own === null || own.ownTimeouts === null ? null : `${figure(own.ownTimeouts)} missed`,
        own === null || own.expected === null ? null : `${own.expected.toFixed(1)} expected`,
        stake === undefined ? null : `${share(stake)} of the stake`,
      ]),
      (own?.ownTimeouts ?? 0) > 0 ? 'notice' : undefined,
    )
  },
}
