import { type Row } from '../frame.ts'
import { table } from '../panels/table.ts'
import { figures, labels } from '../panels/tile.ts'
import { fact, type ValueLabels } from '../value-labels.ts'

const READY: ValueLabels = { 0: ['NOT READY', 'critical'], 1: ['ready', 'good'] }

export const versions: Row = {
  title: 'Versions, forks and what the node says of itself',
  panels: [
    labels({
      title: 'Versions',
      about:
        'What runs, by consensus and by the RPC, what is installed, and the package. They differ while a restart is pending.',
      alerts: ['ChainRestartPending'],
      unit: 'none',
      width: 8,
      height: 7,
      lines: [
        { expr: 'chain_node_running_info', legend: 'runs, by {{source}}: {{version}}' },
        { expr: 'chain_node_build_info', legend: 'installed {{program}}: {{version}}' },
        { expr: 'chain_package_info', legend: 'package {{package}}: {{version}}' },
      ],
    }),
    labels({
      title: 'Who the node is',
      about:
        'What consensus, the RPC and the status report say of the node. Another network or chain than you think: stop and look.',
      alerts: ['ChainBlind'],
      unit: 'none',
      width: 8,
      height: 7,
      lines: [
        { expr: 'chain_native_info', legend: 'consensus: {{network}}, {{version}}' },
        { expr: 'chain_rpc_info', legend: 'RPC: chain {{chain_id}}, {{client_version}}' },
        { expr: 'chain_status_info', legend: 'report: {{chain}}, {{network}}, {{version}}' },
        {
          expr: 'chain_status_state_info',
          legend: 'report: {{consensus}}, {{mode}}, RPC {{rpc}}',
        },
      ],
    }),
    figures({
      title: 'Restart and migration',
      about:
        'Whether a process runs another version than the installed one, whether consensus was started without execution, and the phase of the migration of the database.',
      alerts: ['ChainRestartPending', 'ChainPartialRestart', 'ChainStorageLowForMigration'],
      unit: 'none',
      words: fact('YES'),
      width: 8,
      height: 7,
      lines: [
        { expr: 'chain_version_mismatch', legend: 'restart pending' },
        { expr: 'chain_service_partial_restart', legend: 'partial restart' },
        { expr: 'chain_native_migration_phase == 1', legend: 'migration: {{phase}}' },
      ],
    }),
    table({
      title: 'Forks and mandatory releases',
      about:
        'What the network will ask for, when, and whether the node has it. Not ready: upgrade or migrate before that. What is past and not ready keeps the node from following.',
      alerts: ['ChainForkNotReady', 'ChainBlind'],
      width: 12,
      height: 7,
      keys: { fork: 'Fork', check: 'Asks for' },
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
    figures({
      title: 'What the status report says',
      about: 'The own report of the node, asked every five minutes: a second opinion, and older than all else here.',
      alerts: ['ChainCollectorDown'],
      unit: 'none',
      words: { 0: ['NO', 'warning'], 1: ['yes', 'good'] },
      width: 12,
      height: 7,
      lines: [
        { expr: 'chain_status_in_sync', legend: 'in sync' },
        { expr: 'chain_status_live', legend: 'live' },
        { expr: 'chain_status_rpc_active', legend: 'RPC active' },
        { expr: 'chain_status_cleanup_activated', legend: 'clean-up on' },
        { expr: 'chain_status_service_running', legend: '{{service}} runs' },
      ],
    }),
    figures({
      title: 'Heights by the status report',
      about:
        'Older than the other heights by up to five minutes. The difference is to the height that the report finds elsewhere.',
      alerts: ['ChainBehind'],
      unit: 'locale',
      width: 12,
      lines: [
        { expr: 'chain_status_block_number', legend: 'consensus' },
        { expr: 'chain_status_rpc_block_number', legend: 'RPC' },
        { expr: 'chain_status_external_block_number', legend: 'elsewhere' },
        { expr: 'chain_status_block_difference', legend: 'difference' },
      ],
    }),
    figures({
      title: 'Uptime of consensus',
      about:
        'Since consensus was started, by itself, by the status report, and by systemd. They differ when one of them is not about the process that runs.',
      alerts: ['ChainServiceRestarting'],
      unit: 's',
      width: 12,
      lines: [
        { expr: 'chain_native_uptime_seconds', legend: 'by itself' },
        { expr: 'chain_status_uptime_seconds', legend: 'by the report' },
        {
          expr: 'time() - chain_service_start_timestamp_seconds{service="bft"}',
          legend: 'by systemd',
        },
      ],
    }),
  ],
}
