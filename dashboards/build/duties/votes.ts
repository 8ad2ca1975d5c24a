import { highest, lowest } from '../promql.ts'
import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'

export const votes: Row = {
  title: 'Voting',
  panels: [
    graph({
      title: 'Votes for each round',
      about:
        'Votes computed for each round that a quorum closed, of the nodes with the fewest; one that did not leave the host counts. Only validators in the active set have them.',
      alerts: ['ChainNotVoting', 'ChainLeftActiveSet'],
      unit: 'percentunit',
      decimals: 1,
      width: 12,
      min: 0,
      limits: limitsBy('ChainNotVoting', 'instance:chain_votes_per_round:ratio_rate2m'),
      lines: [
        {
          expr: lowest('min by (job, instance) (instance:chain_votes_per_round:ratio_rate2m)'),
          legend: '{{instance}}',
        },
      ],
    }),
    graph({
      title: 'Time until a vote is ready, 99th percentile',
      about:
        'From the own vote until the proposal of the next round was accepted, of the slowest nodes. Late leaders increase it on every node; on one alone see the drive, the clock and the CPU.',
      alerts: ['ChainNotVoting.late'],
      unit: 's',
      width: 12,
      min: 0,
      limits: limitsBy('ChainNotVoting.late', 'chain_native_vote_delay_seconds'),
      lines: [
        {
          // An agent of version 0.2.0 has the label `quantile`.
          expr: highest(
            'max by (job, instance) (chain_native_vote_delay_seconds{percentile="99"} or chain_native_vote_delay_seconds{quantile="0.99"})',
          ),
          legend: '{{instance}}',
        },
      ],
    }),
  ],
}
