import { figure } from '../../core/format.ts'
import { fact, timeFact } from './fact.ts'
import { joined, type Section, summary, type View } from './section.ts'
import { share } from './format.ts'

/** The node's own turns are known only if its key is known. */
const ownDuties = (view: View) => {
  const { duties: reading, identity } = view.readings.derived ?? {}
  return identity && reading
}

export const duties: Section = {
  name: 'duties',
  description: 'turns as leader in six hours: led, missed, expected; stake, votes',
  groups: [
    {
      collector: 'derived',
      source: 'the last six hours',
      facts: (view) => {
        const { duties: all, identity } = view.readings.derived ?? {}
        const own = ownDuties(view)
        const why = !all ? 'no round was read yet' : undefined
        const whyOwn = why ?? (!identity ? 'the key of this node is not known yet' : undefined)
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
        timeFact('votedAt', view.readings.consensus?.votedAt, {
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
        typeof own?.ownBlocks !== 'number' ? null : `${figure(own.ownBlocks)} own blocks`,
        typeof own?.ownTimeouts !== 'number' ? null : `${figure(own.ownTimeouts)} missed`,
        typeof own?.expected !== 'number' ? null : `${own.expected.toFixed(1)} expected`,
        stake === undefined ? null : `${share(stake)} of the stake`,
      ]),
      (own?.ownTimeouts ?? 0) > 0 ? 'notice' : undefined,
    )
  },
}
