import { frame } from '../frame.ts'
import { alertList } from '../overview.ts'
import { collectors, glance } from './collectors.ts'
import { journal } from './journal.ts'

export const agentDashboard = () =>
  frame({
    name: 'agent',
    description:
      'The agents themselves, on all nodes: which of them cannot be relied on. Limits are those of the alert rules.',
    from: 'now-6h',
    rows: [{ panels: [alertList({ width: 24, height: 7, many: true }), ...glance.panels] }, collectors, journal],
  })
