import { ruleFile } from './rule.ts'

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
    alert: 'ChainBlind',
    why: 'duties',
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
