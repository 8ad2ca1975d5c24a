import { type Row } from '../frame.ts'
import { table } from '../panels/table.ts'
import { type ValueLabels } from '../value-labels.ts'

const READY: ValueLabels = { 0: ['NOT READY', 'critical'], 1: ['ready', 'good'] }

/** The series of an info metric with the labels `part` and `value`. */
const part = (metric: string, name: string, value: string, by = ''): string =>
  `label_replace(label_replace(${metric}, "part", "${name}", "${by}", "(.*)"), "value", "$1", "${value}", "(.+)")`

const PARTS = [
  part('chain_native_info', 'network', 'network'),
  part('chain_rpc_info', 'chain id', 'chain_id'),
  part('chain_node_role == 1', 'role', 'role'),
  part('chain_node_running_info', 'runs, as $1 reports', 'version', 'source'),
  part('chain_node_build_info', 'installed, $1', 'version', 'program'),
  part('chain_package_info', 'package $1', 'version', 'package'),
  part('chain_agent_build_info', 'agent', 'version'),
  part('chain_host_kernel_info', 'kernel, $1', 'release', 'kernel'),
].join(' or ')

export const identity: Row = {
  title: 'Identity and versions',
  panels: [
    table({
      title: 'Identity and versions',
      about:
        'Network, role, and the versions that run and that are installed. They differ while a restart is pending. Another network than expected: stop the node and find out why.',
      alerts: ['ChainRestartPending', 'ChainKernelBlocked'],
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
      alerts: ['ChainForkNotReady', 'ChainBlind'],
      empty: 'none',
      width: 12,
      height: 9,
      keys: { fork: 'Fork', check: 'Requires' },
      columns: [
        {
          title: 'Node',
          expr: 'min by (fork, check) (chain_fork_ready)',
          unit: 'none',
          words: READY,
        },
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
