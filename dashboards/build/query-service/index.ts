import { frame } from '../frame.ts'
import { overview } from '../overview.ts'
import { answers } from './answers.ts'
import { ingest } from './ingest.ts'

export const queryServiceDashboard = () =>
  frame({
    name: 'query-service',
    description:
      'The query service of one node: what it has indexed, and how it answers. Limits are those of the alert rules.',
    from: 'now-6h',
    rows: [overview, ingest, answers],
  })
