import { type Row } from '../frame.ts'
import { figures, labels } from '../panels/tile.ts'
import { fact } from '../value-labels.ts'

/** The report of the node itself, which is up to five minutes old, and settings that rarely change. */
export const versions: Row = {
  title: 'Status report, uptime, migration',
  collapsed: true,
  panels: [
    figures({
      title: 'Status report',
      about:
        'The report of the node itself, read every five minutes: a second opinion, and older than everything else here. If it differs from the state of the node, see its age.',
      alerts: ['ChainCollectorDown'],
      unit: 'none',
      words: { 0: ['NO', 'warning'], 1: ['yes', 'good'] },
      width: 12,
      height: 6,
      lines: [
        { expr: 'chain_status_in_sync', legend: 'in sync' },
        { expr: 'chain_status_live', legend: 'live' },
        { expr: 'chain_status_rpc_active', legend: 'RPC active' },
        { expr: 'chain_status_cleanup_activated', legend: 'clean-up on' },
        { expr: 'chain_status_service_running', legend: '{{service}} runs' },
      ],
    }),
    labels({
      title: 'Identity in the status report',
      about:
        'Network and chain that the node reports. If the network or the chain is not the expected one, stop the node and find out why.',
      alerts: ['ChainBlind'],
      unit: 'none',
      width: 12,
      height: 6,
      lines: [
        { expr: 'chain_status_info', legend: '{{chain}}, {{network}}, {{version}}' },
        { expr: 'chain_status_state_info', legend: '{{consensus}}, {{mode}}, RPC {{rpc}}' },
      ],
    }),
    figures({
      title: 'Heights in the status report',
      about:
        'Up to five minutes older than the other heights. The difference is to the height that the report has from elsewhere.',
      alerts: ['ChainBehind'],
      unit: 'locale',
      width: 12,
      lines: [
        { expr: 'chain_status_block_number', legend: 'consensus' },
        { expr: 'chain_status_rpc_block_number', legend: 'RPC' },
        { expr: 'chain_status_external_block_number', legend: 'elsewhere' },
        { expr: 'chain_status_block_difference or chain_status_blocks_behind', legend: 'difference' },
      ],
    }),
    figures({
      title: 'Uptime',
      about:
        'Of consensus, as it reports it itself, as the status report has it and as systemd reports it, and of the host. They differ if one of them is not about the process that runs.',
      alerts: ['ChainServiceCrashed.restarts', 'ChainBlockStalled.rebooted'],
      unit: 's',
      width: 12,
      lines: [
        { expr: 'chain_native_uptime_seconds', legend: 'by itself' },
        { expr: 'chain_status_uptime_seconds', legend: 'by the report' },
        { expr: 'time() - chain_service_start_timestamp_seconds{service="bft"}', legend: 'by systemd' },
        { expr: 'time() - chain_host_boot_timestamp_seconds', legend: 'of the host' },
      ],
    }),
    figures({
      title: 'Migration of the database',
      about: 'The phase of the migration to another kind of timeline. A fork may require a later one.',
      alerts: ['ChainStorageFull.migration', 'ChainLogTrouble.timeline-missing', 'ChainUpgradeDue.promotion'],
      unit: 'none',
      words: fact('current'),
      width: 8,
      lines: [{ expr: 'chain_native_migration_phase == 1', legend: '{{phase}}' }],
    }),
    figures({
      title: 'Huge pages',
      about: 'Without those of 2 MiB execution and the tool of the database do not start.',
      alerts: ['ChainHostSetUp.huge-pages'],
      unit: 'locale',
      width: 8,
      lines: [
        { expr: 'chain_host_hugepages', legend: '{{size}}, total' },
        { expr: 'chain_host_hugepages_free', legend: '{{size}}, free' },
      ],
    }),
    figures({
      title: 'Clean-up in the status report',
      about: 'Time since the last clean-up, and until the next one, as the node reports them.',
      alerts: ['ChainCleanup'],
      unit: 's',
      width: 8,
      lines: [
        { expr: 'time() - chain_status_cleanup_last_timestamp_seconds', legend: 'since the last' },
        { expr: 'chain_status_cleanup_next_timestamp_seconds - time()', legend: 'until the next' },
      ],
    }),
  ],
}
