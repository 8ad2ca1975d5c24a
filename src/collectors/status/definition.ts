import { z } from 'zod'
import { POLL, timing } from '../../config/values.ts'
import { gauge, open } from '../../core/metric.ts'
import { flagOrNull, integerOrNull, numberOrNull, objectOf, recordOf, textOrNull } from '../shared/reading-schema.ts'

export const definition = {
  name: 'status',
  help: "the node's own status report",
  introduction:
    "The status report of the node's tool, every `status.interval` (5 minutes): each run of that tool connects to the node's control socket, sends a request to the internet and decrypts a key. `status.enabled: false` disables it. Only the known healthy value of each state counts as healthy; the values are labels of `chain_status_state_info`.",
  settings: z.strictObject(timing('5m', '60s', POLL)).prefault({}),
  reading: objectOf({
    header: objectOf({
      hostname: textOrNull,
      date: textOrNull,
      uptimeSeconds: numberOrNull,
      version: textOrNull,
    }),
    config: objectOf({
      network: textOrNull,
      chain: textOrNull,
      chainId: integerOrNull,
      secpPublicKey: textOrNull,
      blsPublicKey: textOrNull,
      nodeSignature: textOrNull,
      selfAddress: textOrNull,
      selfAuthPort: integerOrNull,
      recordSeqNum: integerOrNull,
    }),
    services: recordOf(textOrNull),
    cleanup: objectOf({ activated: flagOrNull, previousSeconds: numberOrNull, nextSeconds: numberOrNull }),
    peers: integerOrNull,
    consensus: objectOf({
      status: textOrNull,
      mode: textOrNull,
      epoch: integerOrNull,
      round: integerOrNull,
      blockNumber: integerOrNull,
      externalBlockNumber: integerOrNull,
      blockDifference: integerOrNull,
    }),
    statesync: objectOf({ progressRatio: numberOrNull, progressBlock: integerOrNull, targetBlock: integerOrNull }),
    rpc: objectOf({
      status: textOrNull,
      clientVersion: textOrNull,
      netVersion: textOrNull,
      blockNumber: integerOrNull,
    }),
  }),
  metrics: {
    chain_status_info: gauge('Constant 1; identity and versions in the status report.', {
      hostname: open,
      version: open,
      network: open,
      chain: open,
      chain_id: open,
      self_address: open,
      record_seq_num: open,
      secp_public_key: open,
    }),
    chain_status_uptime_seconds: gauge('Reported uptime of the consensus process.'),
    chain_status_service_running: gauge('Whether the service is reported as running.', {
      service: open,
    }),
    chain_status_rpc_block_number: gauge('Reported height of the RPC.'),
    chain_status_peers: gauge('Reported number of peers.'),
    chain_status_in_sync: gauge('Whether the reported state of consensus is in-sync, the only healthy value.'),
    chain_status_live: gauge('Whether the reported mode is live, the only healthy value.'),
    chain_status_rpc_active: gauge('Whether the RPC is reported as active.'),
    chain_status_state_info: gauge('Constant 1; the reported states, unchanged.', {
      consensus: open,
      mode: open,
      rpc: open,
    }),
    chain_status_epoch: gauge('Reported epoch.'),
    chain_status_round: gauge('Reported round.'),
    chain_status_block_number: gauge('Reported height of consensus.'),
    chain_status_external_block_number: gauge('Reported height of an external source.'),
    chain_status_block_difference: gauge('Reported difference of the heights.'),
    chain_status_statesync_progress_ratio: gauge(
      'Reported progress of statesync; absent while the reported target is 0.',
    ),
    chain_status_statesync_progress_block: gauge('Block that statesync has reached.'),
    chain_status_statesync_target_block: gauge('Target block of statesync.'),
    chain_status_cleanup_activated: gauge('Whether the cleanup timer is active.'),
    chain_status_cleanup_previous_seconds: gauge('Reported time since the last cleanup.'),
    chain_status_cleanup_next_seconds: gauge('Reported time until the next cleanup.'),
  },
} as const
