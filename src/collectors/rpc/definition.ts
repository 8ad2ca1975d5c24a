import { z } from 'zod'
import { POLL, timing, url } from '../../config/values.ts'
import { gauge, histogram, open, counter } from '../../core/metric.ts'

/** Block tags of JSON-RPC: newest proposed, voted, final. */
export const BLOCK_TAGS = ['latest', 'safe', 'finalized'] as const
/** Why a request brought nothing. */
export const REFUSALS = ['refused', 'timeout', 'http', 'jsonrpc', 'invalid'] as const

export const definition = {
  name: 'rpc',
  help: "the node's JSON-RPC: height by block tag, block times, version",
  introduction:
    "The node's JSON-RPC, asked every `rpc.interval`. While the port refuses, hangs or answers nonsense, `chain_rpc_up` is 0 and the heights are absent.",
  settings: z
    .strictObject({
      ...timing('2s', '3s', POLL),
      url: url("the node's JSON-RPC").default('http://localhost:8080'),
    })
    .prefault({}),
  metrics: {
    chain_rpc_up: gauge(
      'Whether the last eth_blockNumber got a valid answer; 0 when refused, late or wrong.',
    ),
    chain_rpc_block_number: gauge('Height of the chain as the node reports it, by block tag.', {
      tag: BLOCK_TAGS,
    }),
    chain_rpc_block_timestamp_seconds: gauge('Time that the block itself carries, by block tag.', {
      tag: BLOCK_TAGS,
    }),
    chain_rpc_last_advance_timestamp_seconds: gauge(
      'When the latest height last grew, by the clock of the agent.',
    ),
    chain_rpc_info: gauge('Constant 1; what the node says of itself.', {
      client_version: open,
      chain_id: open,
      net_version: open,
    }),
    chain_rpc_request_duration_seconds: histogram(
      'Time to an answer of the node to what is asked at every poll, valid or not.',
      [0.001, 0.005, 0.01, 0.025, 0.1, 0.25, 1, 2.5],
      { method: ['eth_blockNumber', 'eth_getBlockByNumber'] },
    ),
    chain_rpc_errors_total: counter('Requests of the poll that got no valid answer.', {
      method: ['eth_blockNumber', 'eth_getBlockByNumber'],
      reason: REFUSALS,
    }),
  },
} as const
