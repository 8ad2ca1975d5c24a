import { frame } from '../frame.ts'
import { alertList } from '../overview.ts'
import { epochs, stake } from './staking.ts'

export const stakingDashboard = () =>
  frame({
    name: 'staking',
    description:
      'Validators: membership of the set, stake, commission, rewards and withdrawals. It needs the collector `staking`. Limits are those of the alert rules.',
    from: 'now-24h',
    rows: [{ panels: [alertList({ width: 24, height: 7, many: true })] }, stake, epochs],
  })
