import { z } from 'zod'
import { POLL, timing } from '../../config/values.ts'
import { gauge, open } from '../../core/metric.ts'

export const definition = {
  name: 'status',
  help: "the node's own status report",
  introduction:
    "The node's own status report, asked gently (`status.interval`, 5 minutes): each run of that tool touches the node's control socket, calls out and decrypts a key. `status.enabled: false` turns it off. Only the healthy word that is known for each state counts as healthy; the words themselves are labels of `chain_status_state_info`.",
  settings: z.strictObject(timing('5m', '60s', POLL)).prefault({}),
  metrics: {
    chain_status_info: gauge('Constant 1; what the status report says of the node.', {
      hostname: open,
      version: open,
      network: open,
      chain: open,
      chain_id: open,
      self_address: open,
      record_seq_num: open,
      secp_public_key: open,
    }),
    chain_status_uptime_seconds: gauge('Uptime of the consensus process as reported.'),
    chain_status_service_running: gauge('Whether the report says running of the service.', {
      service: open,
    }),
    chain_status_rpc_block_number: gauge('Height of the RPC as reported.'),
    chain_status_peers: gauge('Peers as reported.'),
    chain_status_in_sync: gauge('Whether the report says in-sync, the one healthy word.'),
    chain_status_live: gauge('Whether the report says live, the one healthy word.'),
    chain_status_rpc_active: gauge('Whether the report says active of the RPC.'),
    chain_status_state_info: gauge('Constant 1; the words of the report as they are.', {
      consensus: open,
      mode: open,
      rpc: open,
    }),
    chain_status_epoch: gauge('Epoch as reported.'),
    chain_status_round: gauge('Round as reported.'),
    chain_status_block_number: gauge('Height of consensus as reported.'),
    chain_status_external_block_number: gauge('Height elsewhere as reported.'),
    chain_status_block_difference: gauge('Difference of heights as reported.'),
    chain_status_statesync_progress_ratio: gauge(
      'Progress of statesync as reported; absent while the reported target is 0.',
    ),
    chain_status_statesync_progress_block: gauge('Block that statesync has reached.'),
    chain_status_statesync_target_block: gauge('Block that statesync goes to.'),
    chain_status_cleanup_activated: gauge('Whether the clean-up timer is activated.'),
    chain_status_cleanup_previous_seconds: gauge('Since the last clean-up as reported.'),
    chain_status_cleanup_next_seconds: gauge('Until the next clean-up as reported.'),
  },
} as const
