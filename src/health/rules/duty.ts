import { NODE_DOWN, percent, ruleFile } from './rule.ts'

export const duty = ruleFile({ name: 'duty', component: 'duty', for: '5m' }, [
  {
    comment:
      'Own votes for each round that a quorum closed. Computed, not delivered: a vote that does not leave the host counts, too. Only for nodes in the active set, because others compute their votes and drop them, and only from one round a second on: below that a share is meaningless, and ChainBlockStalled fires.',
    record: 'instance:chain_votes_per_round:ratio_rate2m',
    expr: `rate(chain_native_events_total{event="vote_created"}[2m])
  / on (instance, job, cluster)
    (rate(chain_native_events_total{event="round_entered_by_qc"}[2m]) >= 1)
  and on (instance, job, cluster) (chain_native_stake_ratio > 0)`,
  },
  {
    comment:
      'Timeouts of the whole network per block. Half an hour, so that a network problem is still included when a leader whose turn comes every few minutes has missed three.',
    record: 'instance:chain_network_timeouts_per_block:ratio_rate30m',
    expr: `rate(chain_ledger_timeouts_total[30m])
  / on (instance, job, cluster)
rate(chain_ledger_blocks_total{event="proposed"}[30m])`,
  },
  {
    comment:
      'The network stays below 3 %; above 3 % the cause is not this node. From 20 slots on, because one of three is 33 %, and only if chance alone does not explain it: the standard deviation of the square root of a Poisson count is one half, whatever the count, so 1.5 is three times that, and a healthy node reaches it in 6 of 10000 windows at most. Of 20 rounds it takes 5 timeouts if the network has 2.5 %, of 270 it takes 17 (6.3 %). The values cover six hours: `for` only protects against the first evaluations after a start.',
    alert: 'ChainLeaderTimeouts',
    limit: 0.05,
    explainedBy: [NODE_DOWN, { alerts: ['ChainLeaderTimeouts.in-a-row'] }],
    advice: ['Check the clock, the connection and execution: `chain-agent status duties`, `chain-agent monlog`.'],
    expr: (limit) => `chain_duty_timeout_ratio{scope="own"} > ${limit}
  and on (instance, job, cluster) (sum by (instance, job, cluster) (chain_duty_slots) >= 20)
  and on (instance, job, cluster)
    (
      sqrt(chain_duty_timeout_ratio{scope="own"})
        - on (instance, job, cluster) sqrt(chain_duty_timeout_ratio{scope="network"})
      > on (instance, job, cluster) 1.5 / sqrt(sum by (instance, job, cluster) (chain_duty_slots))
    )
  unless on (instance, job, cluster) (chain_duty_timeout_ratio{scope="network"} > 0.03)`,
    summary: 'too many of the rounds that this node leads time out',
    description: (limit) =>
      `Of the rounds that {{ $labels.instance }} led in six hours {{ $value | humanizePercentage }} timed out, more than ${percent(limit)} and more than chance explains, while the network stays within 3%. The cause is probably this node or its connection.`,
  },
  {
    comment:
      'With 2 % of timeouts three in a row happen once in 125000 turns. The gauge keeps its value until the next turn.',
    alert: 'ChainLeaderTimeouts.in-a-row',
    page: 'Every round that the node leads is lost, with its reward, until the cause, usually on this node or its connection, is fixed.',
    limit: 3,
    for: '30s',
    explainedBy: [NODE_DOWN],
    advice: ['Check the clock, the connection and execution: `chain-agent status duties`, `chain-agent monlog`.'],
    expr: (limit) => `chain_ledger_own_consecutive_timeouts >= ${limit}
  unless on (instance, job, cluster) (instance:chain_network_timeouts_per_block:ratio_rate30m > 0.03)`,
    summary: 'the rounds that this node leads time out one after the other',
    description: (limit) =>
      `{{ $labels.instance }} has led {{ $value }} rounds in a row that timed out; ${limit} or more are not chance. Other validators lead as usual.`,
  },
  {
    comment:
      'Votes in less than half of the rounds: votes are missing, not late. A working node votes in nearly every round; 15 minutes exclude a short problem.',
    alert: 'ChainNotVoting',
    limit: 0.9,
    for: '15m',
    keepFiringFor: '3m',
    critical: {
      limit: 0.5,
      for: '2m',
      page: 'The validator does not do its duty, although the chain runs; each hour counts against its uptime.',
    },
    explainedBy: [
      NODE_DOWN,
      { alerts: ['ChainBlockStalled', 'ChainBlockStalled.deadlock', 'ChainBehind', 'ChainIsolated'] },
    ],
    advice: [
      'Analyse the consensus log: `chain-agent monlog`.',
      'Check the connection and the clock: `chain-agent status peers`, `chain-agent status host`.',
    ],
    expr: (limit) => `instance:chain_votes_per_round:ratio_rate2m < ${limit}`,
    summary: 'the validator follows the chain and computes too few votes',
    description: (limit) =>
      `{{ $labels.instance }} is in the active set, rounds advance, and it computes a vote in {{ $value | humanizePercentage }} of them; the limit is ${percent(limit)}.`,
  },
  {
    comment:
      'More than two block times. Five minutes, because single spikes are normal. A node without stake sends no votes.',
    alert: 'ChainNotVoting.late',
    limit: 0.8,
    explainedBy: [NODE_DOWN],
    advice: [
      'Check the load of the host, execution and the drives: `chain-agent status execution`, `chain-agent status host`.',
    ],
    expr: (limit) => `chain_native_vote_delay_seconds{percentile="99"} > ${limit}
  and on (instance, job, cluster) (chain_native_stake_ratio > 0)`,
    summary: 'votes are ready too late',
    description: (limit) =>
      `One vote in a hundred of {{ $labels.instance }} takes {{ $value | humanizeDuration }} or longer to be ready, more than ${Math.round(limit * 1000)} milliseconds. The next leader may close the round without it.`,
  },
  {
    comment:
      'From its share of the stake, reduced by the timeouts of the network. Half an hour, so that one block more or less does not decide.',
    alert: 'ChainLeaderTimeouts.shortfall',
    limit: 0.001,
    for: '30m',
    advice: ['Check the clock, the connection and execution: `chain-agent status duties`, `chain-agent monlog`.'],
    expr: (limit) => `chain_duty_shortfall_probability_ratio < ${limit}`,
    summary: 'the node leads fewer rounds with a block than expected by its stake',
    description: (limit) =>
      `The probability that {{ $labels.instance }} had so few blocks of its own in six hours by chance is {{ $value | humanizePercentage }}, less than ${percent(limit)}.`,
  },
  {
    comment:
      'A quiet network has empty blocks of all leaders: not above a tenth. From ten own blocks on; with a tenth of empty ones six of ten are empty by chance in 1 of 6800 windows.',
    alert: 'ChainOwnBlocksEmpty',
    limit: 0.5,
    explainedBy: [NODE_DOWN],
    advice: [
      'See whether the transaction pool is empty: `curl -s localhost:9843/metrics | grep ^chain_native_pool_transactions`.',
      'See its errors: `journalctl -u chain-bft --since -6h -g txpool`.',
    ],
    expr: (limit) => `increase(chain_ledger_own_empty_blocks_total[6h])
  / on (instance, job, cluster)
increase(chain_ledger_own_blocks_total{event="proposed"}[6h]) > ${limit}
  and on (instance, job, cluster) (increase(chain_ledger_own_blocks_total{event="proposed"}[6h]) >= 10)
  unless on (instance, job, cluster)
    (
      increase(chain_ledger_empty_blocks_total[6h])
        / on (instance, job, cluster) increase(chain_ledger_blocks_total{event="proposed"}[6h])
      > 0.1
    )`,
    summary: 'the blocks of this node have no transactions of users',
    description: (limit) =>
      `Of the blocks that {{ $labels.instance }} proposed in six hours {{ $value | humanizePercentage }} have no transaction of a user, more than ${percent(limit)}, while at most a tenth of those of all leaders have none. The validator loses the fees.`,
  },
])

export const validator = ruleFile({ name: 'validator', component: 'duty' }, [
  {
    comment:
      'A node that was never in the set is a full node; one that left the set more than seven days ago is, too. The stake is absent until consensus is live.',
    alert: 'ChainLeftActiveSet',
    page: 'The validator neither leads nor votes, and earns nothing; stake that is restored counts only from the next boundary block on.',
    for: '5m',
    advice: [
      'Check the stake of the validator with an explorer of the chain.',
      'See what the node reports: `chain-agent status duties`.',
    ],
    expr: `max_over_time(chain_native_stake_ratio[7d]) > 0
  and on (instance, job, cluster) (chain_native_stake_ratio == 0)`,
    summary: 'the validator has dropped out of the active set',
    description:
      'The stake of {{ $labels.instance }} no longer counts; within seven days its share was {{ $value | humanizePercentage }}. It neither leads nor votes, and earns nothing.',
  },
  {
    comment:
      'One alert for each of the hosts, so that each is named. Over all instances, whatever their job. Hosts are counted by the ID of their boot: an agent that is scraped under two names is one host, and a clone of a machine is another.',
    alert: 'ChainIdentityTwice',
    page: 'Two votes for one round are a double signature, and each round can have them.',
    component: 'security',
    for: '30s',
    advice: [
      'Stop one of the nodes at once: `sudo systemctl stop chain-bft`.',
      'Keep it stopped until it has keys of its own.',
    ],
    expr: `(chain_duty_identity_active == 1)
  * on (identity) group_left ()
    (count by (identity) (group by (identity, boot) (chain_duty_identity_active == 1)) > 1)`,
    summary: 'two nodes sign with the same identity: {{ $labels.identity }}',
    description:
      '{{ $labels.instance }} signs as {{ $labels.identity }}, and so do others: {{ $value }} hosts in total. Votes of both for one round are a double signature.',
  },
  {
    comment: 'The status report provides the key every five minutes, and the ledger stream is optional.',
    alert: 'ChainBlind.duties',
    severity: 'info',
    for: '15m',
    advice: [
      'Set `node.publicKey`, or enable the status report.',
      'Start the ledger stream: `sudo systemctl enable --now chain-ledger-tail`.',
    ],
    pending: 'nothing',
    expr: `chain_native_stake_ratio > 0
  unless on (instance, job, cluster) chain_duty_slots{result="block"}`,
    summary: 'the agent cannot determine which rounds this validator leads',
    description:
      '{{ $labels.instance }} holds {{ $value | humanizePercentage }} of the stake, and the agent does not know its key or receives no ledger stream. The alerts on its own rounds and on two hosts with one identity cannot fire.',
  },
])
