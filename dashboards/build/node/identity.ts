import { type Row } from '../frame.ts'
import { table } from '../panels/table.ts'
import { type ValueLabels } from '../value-labels.ts'

const READY: ValueLabels = { 0: ['NOT READY', 'critical'], 1: ['ready', 'good'] }

/** The series of an info metric with the labels `part` and `value`. */
const part = (name: string, { metric, value, by = '' }: InfoMetric): string =>
  `label_replace(label_replace(${metric}, "part", "${name}", "${by}", "(.*)"), "value", "$1", "${value}", "(.+)")`

interface InfoMetric {
  readonly metric: string
  /** The label with the value. */
  readonly value: string
  /** The label that `$1` in the name stands for. */
  readonly by?: string
}

const PARTS = [
  part('network', { metric: 'chain_native_info', value: 'network' }),
  part('chain id', { metric: 'chain_rpc_info', value: 'chain_id' }),
  part('role', { metric: 'chain_node_role == 1', value: 'role' }),
  part('validator id', { metric: 'chain_staking_info', value: 'validator_id' }),
  part('runs, as $1 reports', { metric: 'chain_node_running_info', value: 'version', by: 'source' }),
  part('installed, $1', { metric: 'chain_node_build_info', value: 'version', by: 'program' }),
  part('package $1', { metric: 'chain_package_info', value: 'version', by: 'package' }),
  part('package that apt offers', { metric: 'chain_package_candidate_info', value: 'version' }),
  part('agent', { metric: 'chain_agent_build_info', value: 'version' }),
  part('kernel, $1', { metric: 'chain_host_kernel_info', value: 'release', by: 'kernel' }),
].join(' or ')

export const identity: Row = {
  title: 'Identity and versions',
  panels: [
    table({
      title: 'Identity and versions',
      about:
        'Network, role, and the versions that run and that are installed. They differ while a restart is pending. Another network than expected: stop the node and find out why.',
      alerts: ['ChainUpgradeDue.restart', 'ChainUpgradeDue.package', 'ChainHostSetUp.kernel'],
      width: 12,
      height: 9,
      keys: { part: 'Part', value: 'Value' },
      onlyLabels: true,
      columns: [{ title: 'Is', expr: `group by (part, value) (${PARTS})`, unit: 'none' }],
    }),
    table({
      title: 'Forks and mandatory releases',
      about:
        'What the network requires, from when, and whether the node meets it. Not ready: upgrade or migrate before that time. A fork in the past that is not ready keeps the node from following.',
      alerts: ['ChainForkNotReady', 'ChainUpgradeDue.fork-list', 'ChainBlind'],
      empty: 'none',
      width: 12,
      height: 9,
      keys: { fork: 'Fork', check: 'Requires' },
      columns: [
        { title: 'Node', expr: 'min by (fork, check) (chain_fork_ready)', unit: 'none', words: READY },
        {
          title: 'In',
          expr: `
            max by (fork, check) (
              0 * chain_fork_ready + on (job, instance, fork) group_left ()
              (chain_fork_activation_timestamp_seconds - time())
            )`,
          unit: 's',
          past: 'good',
        },
      ],
    }),
  ],
}
