import { figure } from '../../core/format.ts'
import { fact } from './fact.ts'
import { FROM_STATUS_REPORT, statusReport } from './report.ts'
import { type Section, summary } from './section.ts'
import { count } from './format.ts'

export const peers: Section = {
  name: 'peers',
  groups: [
    {
      ...FROM_STATUS_REPORT,
      facts: (view) => [fact('peersNumber', statusReport(view).peers, { text: figure })],
    },
    {
      collector: 'native',
      source: 'the metrics of consensus',
      facts: ({ known }) => {
        const sessions = (state: 'total' | 'transport' | 'initiating') =>
          fact(['native', 'sessions', state], known.value('chain_native_sessions', { state }), {
            label: `sessions, ${state}`,
          })
        return [
          fact(['native', 'discovered'], known.value('chain_native_peers')),
          fact(['native', 'upstreamValidators'], known.value('chain_native_upstream_validators')),
          fact(['native', 'downstreamNodes'], known.value('chain_native_downstream_nodes')),
          ...(['total', 'transport', 'initiating'] as const).map(sessions),
        ]
      },
    },
  ],
  summary: (view) => {
    const reported = statusReport(view).peers
    const discovered = view.known.value('chain_native_peers')
    const isAlone = Number(reported ?? discovered) === 0
    if (reported === null && discovered === undefined) return null
    const found = discovered === undefined ? '' : `${figure(discovered)} discovered`
    const text = reported === null ? found : count(reported, 'peer') + (found === '' ? '' : ` reported, ${found}`)
    return summary(text, isAlone ? 'bad' : undefined)
  },
}
