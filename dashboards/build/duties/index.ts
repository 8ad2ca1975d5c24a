import { frame } from '../frame.ts'
import { budget } from './budget.ts'
import { slots } from './slots.ts'
import { votes } from './votes.ts'

export const duties = () =>
  frame({
    uid: 'chain-duties',
    title: 'Chain duties and objective',
    description:
      'What validators owe: leading, voting, being there. Luck is told from fault by what chance allows. Limits are those of the alert rules.',
    from: 'now-24h',
    many: true,
    rows: [budget, slots, votes],
  })
