import { duration, timed } from '../../core/settings.ts'
import { gauge, open } from '../../core/metric.ts'
import { each, listOf, objectOf, objectOrNull, orNull } from '../shared/reading-schema.ts'

export const definition = {
  name: 'reference',
  help: 'references for height and blocks of the chain, and how far the node is behind them',
  introduction:
    'References for the height of the chain (`references:`). The difference needs a quorum: the majority of those configured, within 10 blocks of each other. RPC endpoints are compared on `latest`, query services on `finalized`. Of the newest block that the node and the RPC endpoints have all finalized, the hash and the state root are compared, too.',
  settings: timed('10s', '5s', { interval: duration('10s', 'how often it polls') }),
  reading: objectOf({
    references: listOf(
      objectOf({
        ...each(orNull.text, 'name', 'state'),
        up: orNull.flag,
        blockNumber: orNull.integer,
        comparison: objectOrNull({ height: orNull.integer, matches: orNull.flag, parentMatches: orNull.flag }),
      }),
    ),
    agreeing: orNull.number,
  }),
  metrics: {
    chain_reference_up: gauge('Whether the reference responded, and with the chain id of the node if both are known.', {
      reference: open,
    }),
    chain_reference_block_number: gauge('Block height reported by the reference.', { reference: open }),
    chain_reference_hash_matches: gauge(
      'Whether hash and state root of a finalized block of the reference equal those of the node at its height; absent if unknown.',
      { reference: open },
    ),
    chain_reference_agreeing: gauge(
      'Number of references whose heights are within the agreement window of each other.',
    ),
    chain_block_difference: gauge(
      'Blocks by which the node is behind the height that the references agree on or, without references, the one in its status report; negative when ahead.',
    ),
  },
} as const
