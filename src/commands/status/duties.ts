import { figure } from '../../core/format.ts'
import { consensusLog } from './consensus.ts'
import { fact, momentFact } from './fact.ts'
import { joined, type Section, summary, type View } from './section.ts'
import { amount, flag, shape, shapeOrNull, word } from './shapes.ts'
import { share } from './texts.ts'

const schema = shape({
  duties: shapeOrNull({
    rounds: amount,
    timeouts: amount,
    ownBlocks: amount,
    ownTimeouts: amount,
    expected: amount,
    shortfallProbability: amount,
  }),
  identity: shapeOrNull({ key: word, isActive: flag }),
})

const dutiesIn = (view: View) => view.reading('derived', schema)

/** Whose turns are the node's own is known by its key alone. */
const ownOf = (view: View) => {
  const { duties: told, identity } = dutiesIn(view)
  return identity === null ? null : told
}

export const duties: Section = {
  name: 'duties',
  about: 'turns as a leader in six hours: led, missed, expected; stake, votes',
  groups: [
    {
      from: 'derived',
      by: 'the last six hours',
      facts: (view) => {
        const { duties: all, identity } = dutiesIn(view)
        const own = ownOf(view)
        const why = all === null ? 'no round was heard of yet' : undefined
        const whyOwn =
          why ?? (identity === null ? 'who leads as this node is not known yet' : undefined)
        return [
          fact('identityActive', identity?.isActive, { label: 'signs with its key', why: whyOwn }),
          fact('rounds', all?.rounds, { why }),
          fact('timeouts', all?.timeouts, { label: 'rounds that timed out', why }),
          fact('ownBlocks', own?.ownBlocks, { why: whyOwn }),
          fact('ownTimeouts', own?.ownTimeouts, {
            why: whyOwn,
            tone: (missed) => (missed > 0 ? 'notice' : undefined),
          }),
          fact('expectedSlots', own?.expected, {
            label: 'own turns expected',
            why: whyOwn ?? 'needs the share of the stake',
            text: (slots) => slots.toFixed(1),
          }),
          fact('shortfallProbability', own?.shortfallProbability, {
            label: 'so few by chance',
            why: whyOwn ?? 'needs an expectation',
            text: share,
          }),
        ]
      },
    },
    {
      from: 'ledger',
      by: 'the ledger stream',
      facts: ({ known }) => [
        fact('ownConsecutiveTimeouts', known.value('chain_ledger_own_consecutive_timeouts'), {
          label: 'missed in a row',
          tone: (missed) => (missed > 0 ? 'notice' : undefined),
        }),
      ],
    },
    {
      from: 'native',
      by: "consensus' own metrics",
      facts: ({ known }) => [
        fact('stakeRatio', known.value('chain_native_stake_ratio'), {
          label: 'share of the stake',
          text: (ratio) => (ratio === 0 ? '0.00%: not in the active set' : share(ratio)),
        }),
      ],
    },
    {
      from: 'consensus',
      by: 'the consensus log',
      facts: (view) => [
        momentFact('votedAt', consensusLog(view).votedAt, {
          label: 'last vote',
          now: view.at,
          why: 'a full node never votes',
        }),
      ],
    },
  ],
  summary: (view) => {
    const own = ownOf(view)
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
