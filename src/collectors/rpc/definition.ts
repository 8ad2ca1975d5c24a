import { z } from 'zod'
import { polling, timed, url } from '../../core/settings.ts'
import { gauge, histogram, opens, counter } from '../../core/metric.ts'
import { objectOf, objectOrNull, orNull } from '../shared/reading-schema.ts'

/** Block tags of JSON-RPC: proposed, voted, finalized. */
export const BLOCK_TAGS = ['latest', 'safe', 'finalized'] as const
/** Why a request failed. */
export const REQUEST_FAILURES = ['refused', 'timeout', 'http', 'jsonrpc', 'invalid'] as const

const block = objectOrNull({ number: orNull.integer, at: orNull.time })

export const definition = {
  name: 'rpc',
  help: "the node's JSON-RPC: height by block tag, block times, version",
  introduction:
    "The node's JSON-RPC, asked every `rpc.interval`. While the port refuses connections, times out or returns an invalid response, `chain_rpc_up` is 0 and the heights are absent.",
  settings: timed('2s', '3s', {
    ...polling('2s'),
    url: url("the node's JSON-RPC").default('http://localhost:8080'),
  }),
  reading: z.discriminatedUnion('up', [
    z.object({ up: z.literal(false), reason: orNull.text, detail: orNull.text }),
    z.object({
      up: z.literal(true),
      blockNumber: orNull.integer,
      blocks: objectOf({ latest: block, safe: block, finalized: block }),
      lastAdvanceAt: orNull.time,
      baseFee: orNull.integer,
      info: objectOf({ clientVersion: orNull.text, chainId: orNull.integer, netVersion: orNull.text }),
    }),
  ]),
  metrics: {
    chain_rpc_up: gauge(
      'Whether the last eth_blockNumber returned a valid response; 0 when refused, timed out or invalid.',
    ),
    chain_rpc_block_number: gauge('Block height reported by the RPC of the node, by block tag.', { tag: BLOCK_TAGS }),
    chain_rpc_block_timestamp_seconds: gauge('Timestamp of the block reported by the RPC of the node, by block tag.', {
      tag: BLOCK_TAGS,
    }),
    chain_rpc_last_advance_timestamp_seconds: gauge(
      'Time at which the latest height of the RPC last increased, by the clock of the agent.',
    ),
    chain_rpc_base_fee_wei: gauge('Base fee per gas of the latest block, in wei.'),
    chain_rpc_info: gauge(
      'Constant 1; client version, chain id and network version reported by the node.',
      opens('client_version', 'chain_id', 'net_version'),
    ),
    chain_rpc_request_duration_seconds: histogram(
      'Duration of the requests of each poll of the RPC in seconds, whether the response was valid or not; the blocks are one batch.',
      [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5],
      { method: ['eth_blockNumber', 'eth_getBlockByNumber'] },
    ),
    chain_rpc_errors_total: counter('Requests of the polls of the RPC without a valid response, by reason.', {
      method: ['eth_blockNumber', 'eth_getBlockByNumber'],
      reason: REQUEST_FAILURES,
    }),
  },
} as const
