import { frame } from '../frame.ts'
import { alertList } from '../overview.ts'
import { budget } from './budget.ts'
import { slots } from './slots.ts'
import { votes } from './votes.ts'

export const duties = () =>
  frame({
    name: 'duties',
    description:
      'The duties of validators: availability, leading, voting. The range that chance allows distinguishes luck from faults. Limits are those of the alert rules.',
    from: 'now-24h',
    rows: [{ panels: [alertList({ width: 24, height: 7, many: true })] }, budget, slots, votes],
  })
