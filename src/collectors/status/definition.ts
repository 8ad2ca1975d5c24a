import { polling, timed } from '../../core/settings.ts'
import { gauge, open, opens } from '../../core/metric.ts'
import { each, objectOf, orNull, recordOf } from '../shared/reading-schema.ts'

export const definition = {
  name: 'status',
  help: "the node's own status report",
  introduction:
    "The status report of the node's tool, every `status.interval` (5 minutes): each run of that tool connects to the node's control socket, sends a request to the internet and decrypts a key. `status.enabled: false` disables it. Only the known healthy value of each state counts as healthy; the values are labels of `chain_status_state_info`.",
  settings: timed('5m', '60s', polling('5m')),
  reading: objectOf({
    readAt: orNull.time,
    header: objectOf({
      ...each(orNull.text, 'hostname', 'date', 'version'),
      uptimeSeconds: orNull.number,
    }),
    config: objectOf({
      ...each(orNull.text, 'network', 'chain', 'secpPublicKey', 'blsPublicKey', 'nodeSignature', 'selfAddress'),
      ...each(orNull.integer, 'chainId', 'selfAuthPort', 'recordSeqNum'),
    }),
    services: recordOf(orNull.text),
    cleanup: objectOf({ activated: orNull.flag, previousSeconds: orNull.number, nextSeconds: orNull.number }),
    peers: orNull.integer,
    consensus: objectOf({
      ...each(orNull.text, 'status', 'mode'),
      ...each(orNull.integer, 'epoch', 'round', 'blockNumber', 'externalBlockNumber', 'blockDifference'),
    }),
    statesync: objectOf({ progressRatio: orNull.number, progressBlock: orNull.integer, targetBlock: orNull.integer }),
    rpc: objectOf({
      ...each(orNull.text, 'status', 'clientVersion', 'netVersion'),
      blockNumber: orNull.integer,
    }),
  }),
  metrics: {
    chain_status_info: gauge(
      'Constant 1; identity and versions in the status report of the node.',
      opens('hostname', 'version', 'network', 'chain', 'chain_id', 'self_address', 'record_seq_num', 'secp_public_key'),
    ),
    chain_status_uptime_seconds: gauge('Uptime of consensus in seconds, from the status report of the node.'),
    chain_status_service_running: gauge('Whether the status report of the node has the service as running.', {
      service: open,
    }),
    chain_status_rpc_block_number: gauge('Block height of the RPC, from the status report of the node.'),
    chain_status_peers: gauge('Number of peers, from the status report of the node.'),
    chain_status_in_sync: gauge(
      'Whether the state of consensus in the status report of the node is in-sync, the only healthy value.',
    ),
    chain_status_live: gauge(
      'Whether the mode of consensus in the status report of the node is live, the only healthy value.',
    ),
    chain_status_rpc_active: gauge('Whether the status report of the node has the RPC as active.'),
    chain_status_state_info: gauge(
      'Constant 1; the states in the status report of the node, unchanged.',
      opens('consensus', 'mode', 'rpc'),
    ),
    chain_status_epoch: gauge('Epoch of consensus, from the status report of the node.'),
    chain_status_round: gauge('Round of consensus, from the status report of the node.'),
    chain_status_block_number: gauge('Block height of consensus, from the status report of the node.'),
    chain_status_external_block_number: gauge(
      'Block height of a source outside of the node, from the status report of the node.',
    ),
    chain_status_block_difference: gauge(
      'Blocks by which the node is behind a source outside of it, from the status report of the node; clamped in some versions.',
    ),
    chain_status_statesync_progress_ratio: gauge(
      'Progress of statesync, from the status report of the node; absent while its target is 0.',
    ),
    chain_status_statesync_progress_block: gauge(
      'Block that statesync has reached, from the status report of the node.',
    ),
    chain_status_statesync_target_block: gauge('Target block of statesync, from the status report of the node.'),
    chain_status_cleanup_activated: gauge(
      'Whether the timer of the cleanup is active, from the status report of the node.',
    ),
    chain_status_cleanup_last_timestamp_seconds: gauge('Time of the last cleanup, from the status report of the node.'),
    chain_status_cleanup_next_timestamp_seconds: gauge(
      'Time of the next cleanup, from the status report of the node; in the past when it is overdue.',
    ),
  },
} as const
